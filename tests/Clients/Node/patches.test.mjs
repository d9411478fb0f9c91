// Documents changed by scripts, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchPatchCommandData, PatchByQueryOperation, PatchCommandData, PatchOperation, PatchRequest } from "ravendb";
import { seed, url, User, withDatabase } from "./support.mjs";

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

test("a patch of another state is skipped where that is asked", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const patch = (changeVector, skips) => store.operations.send(new PatchOperation("users/1", changeVector, request("this.name = 'x';"), null, skips));
    const skipped = await patch("A:999-aaaaaaaaaaaaaaaaaaaaaa", true);
    assert.equal(skipped.status ?? skipped, "NotModified"); // the client takes 304 for it
    await assert.rejects(patch("A:999-aaaaaaaaaaaaaaaaaaaaaa", false), { name: "ConcurrencyException" });
    assert.equal(await name(store, "users/1"), "Ada");
}));

test("one command of a batch patches several documents, all or none", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const loaded = store.openSession(), changeVector = loaded.advanced.getChangeVectorFor(await loaded.load("users/2", User));
    const patch = async (...ids) => {
        const session = store.openSession();
        const made = request("this.name = args.to; this['@metadata'] = {'@collection': 'Users'};", { to: "made" });
        session.advanced.defer(new BatchPatchCommandData(request("this.name += args.more;", { more: "!" }), made, ...ids));
        await session.saveChanges();
    };
    await patch("users/1", { id: "users/2", changeVector }, "users/3");
    assert.deepEqual([await name(store, "users/1"), await name(store, "users/2"), await name(store, "users/3")], ["Ada!", "Bob!", "made"]);
    await assert.rejects(patch("users/1", { id: "users/2", changeVector }), { name: "ConcurrencyException" });
    assert.equal(await name(store, "users/1"), "Ada!");
}));

test("a session adds a document, or patches the one that is there", () => withDatabase(async store => {
    for (let round = 0; round < 2; round++) {
        const session = store.openSession(), other = fields => Object.assign(new User({ name: "new", age: 1 }), fields);
        session.advanced.addOrPatch("users/1", other(), "name", "patched");
        session.advanced.addOrIncrement("users/2", other(), "age", 5);
        session.advanced.addOrPatchArray("users/3", other({ tags: ["a"] }), "tags", array => array.push("b"));
        await session.saveChanges();
    }
    const users = await store.openSession().load(["users/1", "users/2", "users/3"], User);
    assert.deepEqual([users["users/1"].name, users["users/2"].age, users["users/3"].tags], ["patched", 6, ["a", "b"]]);
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

const trial = async (store, operation) => {
    const command = operation.getCommand(store, store.conventions, null, true, true);
    await store.getRequestExecutor().execute(command);
    return command.result;
};

test("a test of a patch says what would happen, and changes nothing", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 1 }), "users/2": new User({ name: "Bob" }) });
    const script = `
        const other = load('users/2');
        output('meets ' + other.name);
        this.name = args.to;
        put('users/3', { name: 'new', '@metadata': { '@collection': 'Users' } });
        del('users/2');
        incrementCounter(this, 'likes', 3);`;
    const result = await trial(store, new PatchOperation("users/1", null, request(script, { to: "Eve" })));
    assert.equal(result.status, "Patched");
    assert.deepEqual([result.originalDocument.name, result.modifiedDocument.name], ["Ada", "Eve"]);
    assert.deepEqual(result.debug.Info, ["meets Bob"]);
    const { LoadDocument, PutDocument, DeleteDocument, IncrementCounter } = result.debug.Actions;
    assert.deepEqual([LoadDocument[0].Id, LoadDocument[0].Data.name], ["users/2", "Bob"]);
    assert.deepEqual([PutDocument[0].Id, PutDocument[0].Data.name], ["users/3", "new"]);
    assert.deepEqual(DeleteDocument, [{ Id: "users/2" }]);
    assert.deepEqual(IncrementCounter, [{ Id: "users/1", Name: "likes", Delta: 3 }]);
    const session = store.openSession();
    assert.equal((await session.load("users/1", User)).name, "Ada");
    assert.equal((await session.load("users/2", User)).name, "Bob");
    assert.equal(await session.load("users/3"), null);
    assert.deepEqual(await session.countersFor("users/1").getAll(), {});

    const same = await trial(store, new PatchOperation("users/1", null, request("this.name = 'Ada';")));
    assert.deepEqual([same.status, same.modifiedDocument.name], ["NotModified", "Ada"]);
    await assert.rejects(trial(store, new PatchOperation("users/1", null, request("this.a.b = 1;"))), /users\/1.*line 1/);
}));

test("a test of a patch takes the document that is given", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const send = async (query, body) => {
        const response = await fetch(`${url}/databases/${name}/docs?${query}`, { method: "PATCH", body: JSON.stringify(body) });
        return { status: response.status, ...await response.json() };
    };
    const patch = { Patch: { Script: "this.age = this.age + 1;" }, Document: { age: 4, "@metadata": { "@collection": "Users" } } };
    for (const id of ["users/1", "users/none"]) {
        const tried = await send(`id=${id}&test=true`, patch);
        assert.deepEqual([tried.status, tried.Status, tried.OriginalDocument.age, tried.ModifiedDocument.age], [200, "Patched", 4, 5]);
    }
    const refused = await send("id=users/1", patch);
    assert.equal(refused.status, 400);
    assert.match(refused.Message, /test=true/);
    const session = store.openSession();
    assert.deepEqual({ ...await session.load("users/1") }.name, "Ada");
    assert.equal(await session.load("users/none"), null);
}));
