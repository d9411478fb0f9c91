import assert from "node:assert/strict";
import { test } from "node:test";
import { Company, seed, User, withDatabase } from "./support.mjs";

const entities = {
    "users/1": new User({ name: "Ada", company: "companies/1" }), "users/2": new User({ name: "Bob" }), "companies/1": new Company({ name: "Treepie" }),
};

test("lazy loads go out together in one request", () => withDatabase(async store => {
    await seed(store, entities);
    const session = store.openSession();
    const one = session.advanced.lazily.load("users/1", User);
    const several = session.advanced.lazily.load(["users/2", "users/9"], User);
    const missing = session.advanced.lazily.load("users/8", User);
    const before = session.advanced.numberOfRequests;
    await session.advanced.eagerly.executeAllPendingLazyOperations();
    assert.equal(session.advanced.numberOfRequests, before + 1);
    assert.equal((await one.getValue()).name, "Ada");
    assert.equal((await several.getValue())["users/2"].name, "Bob");
    assert.equal((await several.getValue())["users/9"], null);
    assert.equal(await missing.getValue(), null);
}));

test("lazy loads with includes and by prefix", () => withDatabase(async store => {
    await seed(store, entities);
    const session = store.openSession();
    const user = await session.advanced.lazily.include("company").load("users/1", User).getValue();
    const before = session.advanced.numberOfRequests;
    assert.equal((await session.load(user.company, Company)).name, "Treepie");
    assert.equal(session.advanced.numberOfRequests, before);
    const all = await session.advanced.lazily.loadStartingWith("users/", { documentType: User }).getValue();
    assert.deepEqual(Object.values(all).map(one => one.name), ["Ada", "Bob"]);
}));

test("lazy queries, counts, and the error of one that cannot be run", () => withDatabase(async store => {
    await seed(store, entities);
    const session = store.openSession();
    const query = () => session.query({ documentType: User, collection: "Users" }).waitForNonStaleResults();
    const ada = query().whereEquals("name", "Ada").lazily();
    const count = query().whereStartsWith("name", "b").countLazily();
    assert.deepEqual((await ada.getValue()).map(user => user.name), ["Ada"]);
    assert.equal(await count.getValue(), 1);

    const bad = store.openSession().advanced.rawQuery("from Users where").lazily();
    await assert.rejects(bad.getValue());
}));

test("a lazy load asked twice is answered from the client's cache the second time", () => withDatabase(async store => {
    await seed(store, entities);
    for (let i = 0; i < 2; i++)
        assert.equal((await store.openSession().advanced.lazily.load("users/1", User).getValue()).name, "Ada");
    await seed(store, { "users/1": new User({ name: "Augusta" }) });
    assert.equal((await store.openSession().advanced.lazily.load("users/1", User).getValue()).name, "Augusta");
}));
