import assert from "node:assert/strict";
import { test } from "node:test";
import { GetIndexErrorsOperation, GetIndexNamesOperation, GetIndexStatisticsOperation, IndexDefinition, PatchOperation, PatchRequest, PutIndexesOperation } from "ravendb";
import { seed, url, User, withDatabase } from "./support.mjs";

const define = (name, map, reduce) => Object.assign(new IndexDefinition(), { name, maps: new Set([map]), ...(reduce ? { reduce } : {}) });
const put = (store, ...indexes) => store.maintenance.send(new PutIndexesOperation(...indexes));
const ask = (store, index) => store.openSession().query({ documentType: User, indexName: index }).waitForNonStaleResults(60_000);

const bodies = {
    "an endless loop": ["while (true) { }", /statements/],
    "recursion": ["const f = n => f(n + 1); f(1);", /within each other/],
    "a long string": ["'a'.repeat(1 << 28);", /'repeat' would make/],
    "a string that doubles": ["let s = 'aaaaaaaa'; while (true) s += s;", /memory/],
    "a long array": ["Array.from({ length: 1e9 });", /'from' would make/],
    "a catastrophic regular expression": ["/^(a+)+$/.test('a'.repeat(40) + 'b');", /regular expression/],
    "a getter that loops": ["({ get x() { while (true) { } } }).x;", /statements/],
    "a toString that loops": ["'' + { toString() { while (true) { } } };", /statements/],
    "a prototype that is changed": ["Object.prototype.x = 1;", /./],
    "an iterator without end": ["const i = { next: Object.prototype.valueOf, [Symbol.iterator]() { return i; } }; [...i];", /./],
    "the clock": ["new Date(0).constructor.now();", /function of its document/],
    "text that becomes code": ["new Function('return 1')();", /./],
};

test("hostile maps are errors of their documents, and everybody else is answered", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }) });
    await put(store, define("Fine", "map('Users', u => ({ age: u.age + 1 }))"));
    const kinds = Object.keys(bodies);
    await put(store, ...kinds.map((kind, i) => define(`Bad/${i}`, `map('Users', u => { ${bodies[kind][0]} return { age: u.age }; })`)));
    assert.equal((await ask(store, "Fine").whereEquals("age", 37).all()).length, 1);
    for (let i = 0; i < kinds.length; i++) {
        assert.deepEqual(await ask(store, `Bad/${i}`).all(), [], kinds[i]);
        const [{ errors }] = await store.maintenance.send(new GetIndexErrorsOperation([`Bad/${i}`]));
        assert.deepEqual(errors.map(error => error.document), ["users/1"], kinds[i]);
        assert.match(errors[0].error, bodies[kinds[i]][1], kinds[i]);
    }
}));

test("hostile patches change nothing", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }) });
    for (const [kind, [body]] of Object.entries(bodies).filter(([kind]) => kind !== "the clock"))
        await assert.rejects(store.operations.send(new PatchOperation("users/1", null, PatchRequest.forScript(`this.age = 1; ${body}`))), undefined, kind);
    assert.equal((await store.openSession().load("users/1", User)).age, 36);
}));

test("hostile reduces are errors of their groups", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }) });
    await put(store, define("Groups", "map('Users', u => ({ name: u.name, n: 1 }))",
        "groupBy(x => ({ name: x.name })).aggregate(g => { while (true) { } return { name: g.key.name, n: 1 }; })"));
    assert.deepEqual(await ask(store, "Groups").all(), []);
    const [{ errors }] = await store.maintenance.send(new GetIndexErrorsOperation(["Groups"]));
    assert.match(errors[0].error, /statements/);
}));

test("a reduce that cannot be reduced again is refused on a database without documents", () => withDatabase(async store => {
    await assert.rejects(
        put(store, define("Counts", "map('Users', u => ({ name: u.name, n: 1 }))", "groupBy(x => ({ name: x.name })).aggregate(g => ({ name: g.key.name, n: g.values.length }))")),
        /reduced a second time/);
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
}));

test("many fields, many results and a long document", () => withDatabase(async (store, name) => {
    await seed(store, {
        "users/1": new User({ name: "many", age: 2_000 }),
        "users/2": new User({ name: "too many", age: 40_000 }),
        "users/3": new User({ name: "long", age: 1, text: "x".repeat(16 << 20) }),
        "users/4": new User({ name: "fields", age: 1, ...Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${i}`, i])) }),
    });
    await put(store, define("Fan", "map('Users', u => Array(u.age).fill(0).map((_, n) => ({ n: n, name: u.name })))"));
    assert.equal((await ask(store, "Fan").whereEquals("n", 0).all()).length, 3);
    assert.equal((await store.maintenance.send(new GetIndexStatisticsOperation("Fan"))).entriesCount, 2_002);
    const [{ errors }] = await store.maintenance.send(new GetIndexErrorsOperation(["Fan"]));
    assert.deepEqual(errors.map(error => error.document), ["users/2"]);
    assert.match(errors[0].error, /32,768 results|statements/);
    const answer = await (await fetch(`${url}/databases/${name}/queries`, { method: "POST", body: JSON.stringify({ Query: "from index 'Fan' where n = 0" }) })).json();
    assert.match(answer.Warnings[0], /2,000 entries of document 'users\/1'/);
    await put(store, define("Whole", "map('Users', u => ({ keys: Object.keys(u).length, length: JSON.stringify(u).length }))"));
    assert.ok((await ask(store, "Whole").whereGreaterThan("keys", 10_000).all()).length === 1);
}));
