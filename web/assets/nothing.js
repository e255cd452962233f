// The page at an unknown address: says how to sign in where this browser is not signed in.

import { call, onSignIn, showDenied, signIn } from "./ui/access.js";

const look = () => call("/api/status").then(({ status }) => showDenied(status === 401), () => {});
onSignIn(look);
signIn().then(look);
