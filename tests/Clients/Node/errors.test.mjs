import assert from "node:assert/strict";
import { test } from "node:test";
import { PutDocumentCommand } from "ravendb";
import { seed, User, url, withDatabase } from "./support.mjs";

const notBuilt = feature => error => /not built/.test(error.message) && error.message.toLowerCase().includes(feature);

test("what is not built is refused in words, by its name", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    await assert.rejects(store.subscriptions.create({ query: "from Users" }), notBuilt("subscriptions"));
    assert.equal((await store.openSession().load("users/1", User)).name, "Ada");
}));

test("a document that is no document is refused and changes nothing", () => withDatabase(async store => {
    await assert.rejects(
        store.getRequestExecutor().execute(new PutDocumentCommand("users/" + "x".repeat(600), null, { name: "long" })), /512/);
    await assert.rejects(
        store.getRequestExecutor().execute(new PutDocumentCommand("users/\u0001", null, { name: "control" })), /control/i);
    assert.deepEqual(await store.openSession().advanced.loadStartingWith("users/"), []);
}));

test("an unknown route says so", () => withDatabase(async (store, name) => {
    const response = await fetch(`${url}/databases/${name}/no-such-thing`);
    assert.equal(response.status, 400);
    const body = await response.json();
    assert.equal(body.Type, "Raven.Client.Exceptions.Routing.RouteNotFoundException");
    assert.ok(body.Message.includes("no-such-thing"));
}));

test("a document from the client's cache is asked for again, and a change is seen", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    for (let i = 0; i < 3; i++) {
        const session = store.openSession();
        assert.equal((await session.load("users/1", User)).name, "Ada");
    }
    await seed(store, { "users/1": new User({ name: "Augusta" }) });
    assert.equal((await store.openSession().load("users/1", User)).name, "Augusta");
}));
