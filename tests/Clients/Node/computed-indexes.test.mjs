import assert from "node:assert/strict";
import { test } from "node:test";
import { AbstractCsharpIndexCreationTask, AbstractCsharpTimeSeriesIndexCreationTask, AbstractJavaScriptIndexCreationTask, AbstractRawJavaScriptCountersIndexCreationTask, AbstractRawJavaScriptTimeSeriesIndexCreationTask, GetIndexErrorsOperation, GetIndexNamesOperation, GetIndexOperation, GetIndexStatisticsOperation, IndexDefinition, IndexHasChangedOperation, PutIndexesOperation } from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

const define = (name, map, fields = {}) => Object.assign(new IndexDefinition(), { name, maps: new Set([].concat(map)), fields });
const put = (store, ...indexes) => store.maintenance.send(new PutIndexesOperation(...indexes));
const ask = (store, index) => store.openSession().query({ documentType: User, indexName: index }).waitForNonStaleResults();
const names = async query => (await query.all()).map(user => user.name).sort();

const people = {
    "users/1": new User({ name: "Ada", age: 36, company: "companies/1", tags: ["math", "poetry"] }),
    "users/2": new User({ name: "Bob", age: 20, company: "companies/1", tags: ["music"] }),
    "users/3": new User({ name: "Cyd", age: 0, company: "companies/2" }),
    "companies/1": new Company({ name: "Treepie" }),
};

class Users_ByShout extends AbstractCsharpIndexCreationTask {
    constructor() {
        super();
        this.map = "from u in docs.Users where u.age > 10 select new { shout = u.name.ToUpper() + \"!\", decade = u.age / 10 * 10 }";
        this.store("shout", "Yes");
    }
}

class Users_ByTag extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Users", user => (user.tags || []).map(tag => ({ tag: tag.toUpperCase(), name: user.name })));
        this.store("tag", "Yes");
    }
}

test("a C# index computes, and what it stores can be selected", () => withDatabase(async store => {
    await seed(store, people);
    await store.executeIndex(new Users_ByShout());
    assert.deepEqual(await names(ask(store, "Users/ByShout").whereEquals("shout", "ada!")), ["Ada"]);
    assert.deepEqual(await names(ask(store, "Users/ByShout").whereEquals("decade", 20)), ["Bob"]);
    const rows = await ask(store, "Users/ByShout").orderBy("shout").selectFields(["shout"]).all();
    assert.deepEqual(rows.map(row => row.shout ?? row), ["ADA!", "BOB!"]);
    const index = await store.maintenance.send(new GetIndexOperation("Users/ByShout"));
    assert.match([...index.maps][0], /ToUpper/);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(index)), false);
    index.maps = new Set(["from u in docs.Users select new { shout = u.name, decade = 1 }"]);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(index)), true);
}));

test("a JavaScript index gives several entries of a document", () => withDatabase(async store => {
    await seed(store, people);
    await store.executeIndex(new Users_ByTag());
    assert.deepEqual(await names(ask(store, "Users/ByTag").whereEquals("tag", "music")), ["Bob"]);
    assert.equal((await store.maintenance.send(new GetIndexStatisticsOperation("Users/ByTag"))).entriesCount, 3);
    const session = store.openSession();
    const ada = await session.load("users/1", User);
    ada.tags = ["chess"];
    await session.saveChanges();
    assert.deepEqual(await names(ask(store, "Users/ByTag").whereEquals("tag", "chess")), ["Ada"]);
    assert.deepEqual(await names(ask(store, "Users/ByTag").whereEquals("tag", "poetry")), []);
}));

test("entries follow the documents that their maps have loaded", () => withDatabase(async store => {
    await seed(store, people);
    await put(store, define("A", "from u in docs.Users let c = LoadDocument(u.company, \"Companies\") select new { company = c.name }"));
    await put(store, define("B", "map('Users', u => { const c = load(u.company, 'Companies'); return { company: c ? c.name : 'nobody' }; })"));
    assert.deepEqual(await names(ask(store, "A").whereEquals("company", "Treepie")), ["Ada", "Bob"]);
    assert.deepEqual(await names(ask(store, "B").whereEquals("company", "nobody")), ["Cyd"]);
    await seed(store, { "companies/2": new Company({ name: "Magpie" }) });
    const session = store.openSession();
    (await session.load("companies/1", Company)).name = "Jay";
    await session.saveChanges();
    for (const index of ["A", "B"]) {
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "magpie")), ["Cyd"]);
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "jay")), ["Ada", "Bob"]);
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "treepie")), []);
    }
}));

test("a document that cannot be computed is told in the errors and the others are there", () => withDatabase(async store => {
    await seed(store, people);
    await put(store, define("Ratios", "from u in docs.Users select new { ratio = 720 / u.age }"));
    assert.deepEqual(await names(ask(store, "Ratios").whereEquals("ratio", 20)), ["Ada"]);
    const [errors] = await store.maintenance.send(new GetIndexErrorsOperation(["Ratios"]));
    assert.deepEqual(errors.errors.map(error => error.document), ["users/3"]);
    assert.match(errors.errors[0].error, /divides by zero/);
}));

test("what cannot be compiled is refused with its place, and nothing is created", () => withDatabase(async store => {
    for (const [map, place] of [
        ["from u in docs.Users select new { A = System.IO.File.ReadAllText(u.name) }", /line 1, column 39/],
        ["from u in docs.Users\nselect new { A = u.name.Evil() }", /line 2, column 25.*There are: .*ToUpper/s],
        ["map('Users', u => ({ A: 1 })", /line 1, column/],
        ["from u in docs.Users orderby u.name select new { u.name, B = 1 }", /no order/],
    ])
        await assert.rejects(put(store, define("Fine", "from u in docs.Users select new { A = u.age + 1 }"), define("Bad", map)), { name: "IndexCompilationException", message: place });
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
}));

test("documents name fields of their own", () => withDatabase(async store => {
    await seed(store, {
        "users/1": new User({ name: "Ada", likes: { tea: 3, chess: 1 } }),
        "users/2": new User({ name: "Bob", likes: { tea: 1 } }),
    });
    await put(store, define("A", "from u in docs.Users select new { u.name, _ = u.likes.Select(l => CreateField(l.Key, l.Value)) }"));
    await put(store, define("B", "map('Users', u => ({ name: u.name, _: Object.keys(u.likes || {}).map(key => createField(key, 'so ' + u.likes[key], { indexing: 'Search', storage: true })) }))"));
    assert.deepEqual(await names(ask(store, "A").whereEquals("tea", 3)), ["Ada"]);
    assert.deepEqual((await ask(store, "A").whereExists("tea").orderBy("tea", "Long").all()).map(user => user.name), ["Bob", "Ada"]);
    assert.deepEqual(await names(ask(store, "A").whereEquals("go", 1)), []);
    assert.deepEqual(await names(ask(store, "B").search("chess", "1")), ["Ada"]);
    await seed(store, { "users/3": new User({ name: "Cyd", likes: { go: 1 } }) });
    assert.deepEqual(await names(ask(store, "A").whereEquals("go", 1)), ["Cyd"]);
    assert.deepEqual(await names(ask(store, "B").search("go", "so")), ["Cyd"]);
}));

class Beats extends AbstractRawJavaScriptTimeSeriesIndexCreationTask {
    constructor() {
        super();
        this.maps.add("timeSeries.map('Users', 'Heart', ts => ts.Entries.map(e => ({ beat: e.Value, hour: e.Timestamp.getUTCHours(), user: ts.DocumentId })))");
    }
}

class BeatsOfUsers extends AbstractCsharpTimeSeriesIndexCreationTask {
    constructor() {
        super();
        this.map = "from ts in timeSeries.Users.Heart from e in ts.Entries let u = LoadDocument(ts.DocumentId, \"Users\") select new { beat = e.Value, name = u.name }";
    }
}

class Likes extends AbstractRawJavaScriptCountersIndexCreationTask {
    constructor() {
        super();
        this.maps.add("counters.map('Users', 'Likes', c => ({ likes: c.Value, user: c.DocumentId }))");
    }
}

test("indexes over time series and counters follow them", () => withDatabase(async store => {
    await seed(store, people);
    for (const index of [new Beats(), new BeatsOfUsers(), new Likes()])
        await index.execute(store);
    const session = store.openSession();
    for (let i = 0; i < 5; i++)
        session.timeSeriesFor("users/1", "Heart").append(new Date(Date.UTC(2026, 0, 1, i)), 60 + i);
    session.timeSeriesFor("users/2", "Heart").append(new Date(Date.UTC(2026, 0, 1)), 90);
    session.countersFor("users/1").increment("Likes", 3);
    await session.saveChanges();
    const rows = async (index, order) => (await store.openSession().query({ indexName: index }).waitForNonStaleResults().orderBy(order, "Double").all());
    assert.deepEqual((await rows("Beats", "beat")).map(row => [row.beat, row.hour, row.user]),
        [[60, 0, "users/1"], [61, 1, "users/1"], [62, 2, "users/1"], [63, 3, "users/1"], [64, 4, "users/1"], [90, 0, "users/2"]]);
    assert.deepEqual((await rows("BeatsOfUsers", "beat")).filter(row => row.name === "Bob").map(row => row.beat), [90]);
    assert.deepEqual((await rows("Likes", "likes")).map(row => [row.likes, row.user]), [[3, "users/1"]]);
    const other = store.openSession();
    other.timeSeriesFor("users/1", "Heart").delete(new Date(Date.UTC(2026, 0, 1, 1)), new Date(Date.UTC(2026, 0, 1, 3)));
    other.countersFor("users/1").increment("Likes", 4);
    await other.delete("users/2");
    await other.saveChanges();
    assert.deepEqual((await rows("Beats", "beat")).map(row => row.beat), [60, 64]);
    assert.deepEqual((await rows("Likes", "likes")).map(row => row.likes), [7]);
    const statistics = await store.maintenance.send(new GetIndexStatisticsOperation("Likes"));
    assert.equal(statistics.sourceType, "Counters");
}));
