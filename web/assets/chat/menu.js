// The menu of a session.

import { copy } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { nodes } from "../ui/nodes.js";
import { dialogs, toast, toastError } from "../ui/parts.js";

/** @param {Session} session @param {SessionMenuHandlers} handlers @returns {MenuItem[]} */
export function menuOf({ id, uid, projectId, archived, title, node }, { isEmbedded, hasTree, ask, rename, finish, isRunning, tellShell }) {
	const may = me.may("member", projectId);
	const link = `${location.origin}/?open=${encodeURIComponent(uid)}`;
	const there = nodes.of(node);
	const move = () => void import("./move.js").then(({ openMove }) => openMove({ uid, title }, { isRunning: isRunning(), hasTree, away: there?.away ? there.name : undefined })).catch(toastError);
	const erase = () => dialogs.confirm(`Delete “${title}”?`, "Its messages, requests and search entries are deleted for good. The files of the project stay as they are.", "Delete", () => ask("session:erase"));
	/** @type {[unknown, ...MenuItem][]} */
	const items = [
		[may, "Rename", "edit", rename],
		[may && hasTree, "Finish the work tree…", "branch", finish],
		// With a database that is a file there is no other machine.
		[may && node, "Move to another machine…", "open", move],
		[true, "Copy id", "copy", () => copy(id).then(() => toast("Copied."))],
		[true, "Copy link", "link", () => copy(link).then(() => toast("Link copied."))],
		[isEmbedded, "Open in a new page", "open", () => window.open(`/s/${uid}`, "_blank", "noopener")],
		[may && archived, "Restore", "archive", () => ask("session:unarchive")],
		// The shell offers to undo it.
		[may && !archived, "Archive", "archive", () => (isEmbedded ? tellShell("archive") : ask("session:archive"))],
		[me.may("owner", projectId), "Delete…", "trash", () => (isEmbedded ? tellShell("erase") : erase())],
		[isEmbedded, "Close tab", "close", () => tellShell("key", { action: "tab-close" })],
	];
	return items.flatMap(([isOffered, ...item]) => (isOffered ? [item] : []));
}
