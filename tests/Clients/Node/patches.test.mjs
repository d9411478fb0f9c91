// Documents changed by scripts, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PatchByQueryOperation, PatchCommandData, PatchOperation, PatchRequest } from "ravendb";
import { seed, User, withDatabase } from "./support.mjs";

const request = (script, values = {}) => Object.assign(new PatchRequest(), { script, values });

const name = async (store, id) => (await store.openSession().load(id, User)).name;

test("a session sets, adds, and works on arrays", () => withDatabase(async store => {
    await seed(store, { "users/1": Object.assign(new User({ name: "Ada", age: 36 }), { tags: ["a"], big: 1 }) });
    const session = store.openSession();
    session.advanced.patch("users/1", "name", "Augusta");
    session.advanced.increment("users/1", "age", 4);
    session.advanced.patchArray("users/1", "tags", array => array.push("b", "c"));
    await session.saveChanges();
    const user = await store.openSession().load("users/1", User);
    assert.deepEqual([user.name, user.age, user.tags], ["Augusta", 40, ["a", "b", "c"]]);
}));

test("an entity that is tracked is patched and refreshed", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }) });
    const session = store.openSession();
    const user = await session.load("users/1", User);
    session.advanced.increment(user, "age", 1);
    await session.saveChanges();
    await session.advanced.refresh(user);
    assert.equal(user.age, 37);
}));

test("an operation says what it did", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const patched = await store.operations.send(new PatchOperation("users/1", null, request("this.name = args.to; output('was here');", { to: "Bob" })));
    assert.equal(patched.status ?? patched, "Patched");
    assert.equal(await name(store, "users/1"), "Bob");
    const same = await store.operations.send(new PatchOperation("users/1", null, request("this.name = 'Bob';")));
    assert.equal(same.status ?? same, "NotModified");
    const missing = await store.operations.send(new PatchOperation("users/2", null, request("this.name = 'x';")));
    assert.equal(missing.status ?? missing, "DocumentDoesNotExist");
    await store.operations.send(new PatchOperation("users/2", null, request("this.name = 'x';"), request("this.name = 'made'; this['@metadata'] = {'@collection': 'Users'};")));
    assert.equal(await name(store, "users/2"), "made");
}));

test("a batch with a patch of another state is refused as a whole", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    session.advanced.defer(new PatchCommandData("users/1", "A:999-aaaaaaaaaaaaaaaaaaaaaa", request("this.name = 'x';"), null));
    await session.store(new User({ name: "new" }), "users/2");
    await assert.rejects(session.saveChanges(), { name: "ConcurrencyException" });
    assert.equal(await store.openSession().load("users/2"), null);
}));

test("a script that fails says where, and changes nothing", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    for (const [script, words] of [["this.a =", "cannot be read"], ["this.a.b.c = 1", "failed at line 1"], ["while (true) {}", "statements"], ["this.x = 'a'.repeat(1 << 28)", "repeat"]])
        await assert.rejects(store.operations.send(new PatchOperation("users/1", null, request(script))), error => error.message.includes(words));
    assert.equal(await name(store, "users/1"), "Ada");
}));

test("a query patches what it finds, with parameters, functions and loaded documents", () => withDatabase(async store => {
    await seed(store, Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`users/${i}`, new User({ name: `u${i}`, age: i })])));
    const query = `
        declare function twice(n) { return n * 2; }
        from Users as u where u.age >= $from
        update {
            u.age = twice(u.age) + $more;
            put("log/" + id(u), { of: id(this), "@metadata": { "@collection": "Log" } });
        }`;
    const operation = await store.operations.send(new PatchByQueryOperation({ query, queryParameters: { from: 40, more: 1 } }));
    await operation.waitForCompletion();
    const session = store.openSession();
    assert.equal((await session.load("users/39", User)).age, 39);
    assert.equal((await session.load("users/45", User)).age, 91);
    assert.equal((await session.load("log/users/49")).of, "users/49");
    await assert.rejects(store.operations.send(new PatchByQueryOperation("from Users update { this. }")), error => /line 1, column/.test(error.message));
}));

test("a patch changes time series, which sessions then read", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    await store.operations.send(new PatchOperation("users/1", null, request(
        "const heart = timeseries(this, 'Heart'); for (let i = 0; i < 3; i++) heart.append(new Date(Date.UTC(2026, 0, 1 + i)), [60 + i], 'watch'); heart.delete(args.from, args.from); this.beats = heart.get().length;",
        { from: "2026-01-02T00:00:00Z" })));
    const session = store.openSession();
    assert.equal((await session.load("users/1")).beats, 2);
    const entries = await session.timeSeriesFor("users/1", "Heart").get();
    assert.deepEqual(entries.map(entry => [entry.values[0], entry.tag]), [[60, "watch"], [62, "watch"]]);
    await assert.rejects(store.operations.send(new PatchOperation("users/1", null, request("timeseries(this, 'Heart').append('soon', 1)"))), /wants a time/);
}));
