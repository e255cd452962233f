// The state of the shell: projects, their sessions, agents and the inbox, reduced from the server's frames.

/** @returns {Store} */
export function makeStore() {
	let projects = /** @type {Project[]} */ ([]);
	let folders = /** @type {Project[]} */ ([]);
	let agents = /** @type {Agent[]} */ ([]);
	let editor = "";
	let inbox = /** @type {Api.InboxItem[]} */ ([]);
	const sessions = /** @type {Map<string, Session>} */ (new Map());
	const listed = /** @type {Set<string>} */ (new Set());
	/** The uid of every canonical id seen so far, since a canonical id can change. */
	const uids = /** @type {Map<string, string>} */ (new Map());

	/** @param {(session: Session) => boolean} isGone */
	function drop(isGone) {
		for (const session of [...sessions.values()]) if (isGone(session)) sessions.delete(session.uid);
	}

	/** @param {Project[]} next */
	function setProjects(next) {
		projects = next;
		for (const id of [...listed]) if (!isProject(id)) listed.delete(id);
	}

	const isProject = (id = "") => projects.some((project) => project.id === id);

	/** @param {Session} session */
	function keep(session) {
		uids.set(session.id, session.uid);
		if (session.archived) sessions.delete(session.uid);
		else sessions.set(session.uid, session);
	}

	/** @param {{ session: Session }} frame */
	const keepIts = ({ session }) => keep(session);

	/** @type {FrameHandlers} */
	const frames = {
		"project:list": (frame) => {
			editor = frame.editor ?? "";
			setProjects(frame.projects);
		},
		"project:added": ({ project }) => setProjects([...projects.filter(({ id }) => id !== project.id), project]),
		"project:removed": ({ projectId }) => setProjects(projects.filter(({ id }) => id !== projectId)),
		"agent:list": (frame) => (agents = frame.agents.toSorted((a, b) => +b.installed - +a.installed)),
		"inbox:list": ({ items }) => (inbox = items),
		"inbox:settled": (frame) => (inbox = inbox.filter(({ id }) => id !== frame.id)),
		"session:list": (frame) => {
			drop(({ projectId }) => projectId === frame.projectId);
			listed.add(frame.projectId);
			frame.sessions.forEach(keep);
		},
		// Those of projects are listed project by project; of the others these are the newest.
		"home:list": ({ working, finished, failed, recent }) => {
			drop(({ projectId }) => !isProject(projectId));
			for (const id of [...listed]) if (!isProject(id)) listed.delete(id);
			[working, finished, failed, recent].flat().forEach(keep);
		},
		"session:archived": (frame) => sessions.delete(store.uidOf(frame)),
		"session:erased": (frame) => sessions.delete(store.uidOf(frame)),
		"session:title-updated": (frame) => {
			const session = sessions.get(store.uidOf(frame));
			if (session) keep({ ...session, title: frame.title });
		},
		"changes:updated": (frame) => {
			const session = sessions.get(store.uidOf(frame));
			if (session) keep({ ...session, changes: frame.changes });
		},
		"session:history": keepIts,
		"session:created": keepIts,
		"session:changed": keepIts,
		"session:unarchived": keepIts,
	};

	/** @type {Store} */
	const store = {
		get projects() { return projects; },
		get folders() { return folders.filter(({ id }) => !isProject(id)); },
		setFolders: (next) => (folders = next),
		folderOf: (id) => [...projects, ...folders].find((one) => one.id === id),
		get agents() { return agents; },
		get editor() { return editor; },
		get inbox() { return inbox; },
		sessions,
		listed,
		apply(frame) {
			handlerOf(frames, frame)?.(frame);
			return frame.type in frames;
		},
		uidOf: ({ uid, sessionId }) => uid ?? uids.get(sessionId ?? "") ?? sessionId ?? "",
		sessionsOf: (projectId) => [...sessions.values()]
			.filter((session) => session.projectId === projectId)
			.sort((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt)),
		agent: (cliType) => agents.find((agent) => agent.cliType === cliType) ?? { badge: cliType.slice(0, 2).toUpperCase(), title: cliType },
	};
	return store;
}

/**
 * The handler of a frame, if there is one.
 * @param {FrameHandlers} handlers @param {Frame} frame @returns {((frame: Frame) => unknown) | undefined}
 */
export const handlerOf = (handlers, frame) => /** @type {any} */ (handlers[frame.type]);

/** Items of the inbox that were not there before. @param {Api.InboxItem[]} before @param {Api.InboxItem[]} now */
export const arrived = (before, now) => now.filter(({ id }) => !before.some((item) => item.id === id));
