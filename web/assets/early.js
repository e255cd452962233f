// Runs before the first paint, so that the page never flashes in the wrong theme.
{
	const apply = () => {
		try {
			document.documentElement.dataset.theme = localStorage.getItem("convoke.theme") ?? "system";
		} catch {
			// Without a store there is no choice to remember.
		}
	};
	apply();
	addEventListener("storage", apply);
	if (window.top !== window) document.documentElement.dataset.embedded = "";
}
