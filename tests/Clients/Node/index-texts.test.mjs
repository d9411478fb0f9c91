// What texts of indexes reach beside their documents, in C# and JavaScript, and how a changed index takes the place of another.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    AbstractCsharpIndexCreationTask, AbstractJavaScriptIndexCreationTask, AdditionalAssembly, DeleteCompareExchangeValueOperation, DeleteIndexOperation,
    DisableIndexOperation, EnableIndexOperation, GetIndexErrorsOperation, GetIndexNamesOperation, GetIndexOperation, GetIndexesOperation,
    GetStatisticsOperation, IndexDefinition, PutCompareExchangeValueOperation, PutIndexesOperation,
} from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

const define = (name, map, more = {}) => Object.assign(new IndexDefinition(), { name, maps: new Set([].concat(map)), ...more });
const put = (store, ...indexes) => store.maintenance.send(new PutIndexesOperation(...indexes));
const ask = (store, index, type = User) => store.openSession().query({ documentType: type, indexName: index }).waitForNonStaleResults();
const names = async query => (await query.all()).map(user => user.name).sort();
const change = async (store, id, edit) => {
    const session = store.openSession();
    edit(await session.load(id));
    await session.saveChanges();
};

const people = {
    "users/1": new User({ name: "Ada", age: 36, city: "Aa", company: "companies/1", parts: [{ word: "a", parts: [{ word: "b", parts: [{ word: "c" }] }] }] }),
    "users/2": new User({ name: "Bob", age: 20, city: "Bb", company: "companies/1", parts: [{ word: "d" }] }),
    "users/3": new User({ name: "Cyd", age: 7, city: "Aa", company: "companies/2" }),
    "companies/1": new Company({ name: "Treepie" }),
    "companies/2": new Company({ name: "Magpie" }),
};

function shout(text, marks) {
    return text.toUpperCase() + marks;
}

class Users_BySource extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Users", user => ({ shout: shout(user.name, "!"), long: isLong(user.name) }));
        this.addSource(shout);
        this.addSource("words", "function isLong(text) { return text.length > 3; }");
    }
}

class Users_ByAge extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Users", user => ({ decade: decadeOf(user), count: 1 }));
        this.reduce(groups => groups.groupBy(row => row.decade).aggregate(group => ({ decade: group.key, count: sumOf(group.values) })));
        this.addSource("ages", "function decadeOf(user) { return Math.floor(user.age / 10) * 10; } function sumOf(rows) { return rows.reduce((sum, row) => sum + row.count, 0); }");
    }
}

test("maps and reduces call functions of additional sources, and a changed source builds the index anew", () => withDatabase(async store => {
    await seed(store, people);
    await store.executeIndex(new Users_BySource());
    assert.deepEqual(await names(ask(store, "Users/BySource").whereEquals("shout", "ADA!")), ["Ada"]);
    assert.deepEqual(await names(ask(store, "Users/BySource").whereEquals("long", false)), ["Ada", "Bob", "Cyd"]);
    await store.executeIndex(new Users_ByAge());
    const rows = await store.openSession().query({ indexName: "Users/ByAge" }).waitForNonStaleResults().orderBy("decade", "Long").all();
    assert.deepEqual(rows.map(row => [row.decade, row.count]), [[0, 1], [20, 1], [30, 1]]);

    const index = await store.maintenance.send(new GetIndexOperation("Users/BySource"));
    assert.deepEqual(Object.keys(index.additionalSources).sort(), ["shout", "words"]);
    index.additionalSources.words = "function isLong(text) { return text.length > 2; }";
    await put(store, index);
    assert.deepEqual(await names(ask(store, "Users/BySource").whereEquals("long", true)), ["Ada", "Bob", "Cyd"]);
}));

test("code of others is refused by name", () => withDatabase(async store => {
    const map = "from u in docs.Users select new { u.name }";
    const refused = what => error => error.name === "IndexCompilationException" && error.message.includes(what);
    await assert.rejects(put(store, define("A", map, { additionalSources: { Help: "public static class Help { }" } })), refused("AdditionalSources"));
    await assert.rejects(put(store, define("A", map, { additionalAssemblies: [AdditionalAssembly.fromRuntime("System.Xml")] })), refused("AdditionalAssemblies"));
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
}));

class Users_ByCity extends AbstractCsharpIndexCreationTask {
    constructor() {
        super();
        this.map = "from u in docs.Users select new { u.city, u.name }";
        this.compoundField("city", "name");
    }
}

class Users_ByCityToo extends AbstractJavaScriptIndexCreationTask {
    constructor() {
        super();
        this.map("Users", user => ({ city: user.city.trim(), name: user.name }));
        this.compoundField("city", "name");
    }
}

test("pairs of fields are kept with C# and JavaScript, and answer as others do", () => withDatabase(async store => {
    await seed(store, people);
    for (const [index, name] of [[new Users_ByCity(), "Users/ByCity"], [new Users_ByCityToo(), "Users/ByCityToo"]]) {
        await store.executeIndex(index);
        const found = await ask(store, name).whereEquals("city", "Aa").orderByDescending("name").all();
        assert.deepEqual(found.map(user => user.name), ["Cyd", "Ada"]);
        assert.deepEqual((await store.maintenance.send(new GetIndexOperation(name))).compoundFields, [["city", "name"]]);
    }

    await assert.rejects(put(store, define("Bad", "from u in docs.Users select new { u.city }", { compoundFields: [["city", "none"]] })), /none/);
}));

test("entries follow the compare-exchange values that their maps have loaded", () => withDatabase(async store => {
    await seed(store, people);
    const result = await store.operations.send(new PutCompareExchangeValueOperation("city/Aa", { mayor: "Dot" }, 0));
    await store.operations.send(new PutCompareExchangeValueOperation("city/Bb", { mayor: "Eve" }, 0));
    await put(store,
        define("A", "from u in docs.Users let c = LoadCompareExchangeValue(\"city/\" + u.city) select new { mayor = c.mayor }"),
        define("B", "map('Users', u => { const c = cmpxchg('city/' + u.city); return { mayor: c ? c.mayor : 'nobody' }; })"));
    for (const index of ["A", "B"]) {
        assert.deepEqual(await names(ask(store, index).whereEquals("mayor", "Dot")), ["Ada", "Cyd"], index);
        assert.deepEqual(await names(ask(store, index).whereEquals("mayor", "Eve")), ["Bob"], index);
    }

    const changed = await store.operations.send(new PutCompareExchangeValueOperation("city/Aa", { mayor: "Flo" }, result.index));
    for (const index of ["A", "B"]) {
        assert.deepEqual(await names(ask(store, index).whereEquals("mayor", "Flo")), ["Ada", "Cyd"], index);
        assert.deepEqual(await names(ask(store, index).whereEquals("mayor", "Dot")), [], index);
    }

    await store.operations.send(new DeleteCompareExchangeValueOperation("city/Aa", changed.index));
    assert.deepEqual(await names(ask(store, "A").whereEquals("mayor", "Flo")), []);
    assert.deepEqual(await names(ask(store, "B").whereEquals("mayor", "nobody")), ["Ada", "Cyd"]);
}));

test("what is loaded without tracking is there, and is followed as what is loaded", () => withDatabase(async store => {
    await seed(store, people);
    await put(store,
        define("A", "from u in docs.Users let c = NoTracking.LoadDocument(u.company, \"Companies\") select new { company = c.name }"),
        define("B", "map('Users', u => ({ company: noTracking.load(u.company, 'Companies').name }))"));
    for (const index of ["A", "B"])
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "Treepie")), ["Ada", "Bob"], index);
    await change(store, "companies/1", company => company.name = "Jay");
    for (const index of ["A", "B"]) {
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "Jay")), ["Ada", "Bob"], index);
        assert.deepEqual(await names(ask(store, index).whereEquals("company", "Treepie")), [], index);
    }
}));

test("recurse finds what lies in each other, in documents and through loads", () => withDatabase(async store => {
    await seed(store, people);
    await seed(store, { "users/4": new User({ name: "Dan", manager: "users/1" }), "users/5": new User({ name: "Eli", manager: "users/4" }) });
    await put(store,
        define("A", "from u in docs.Users select new { word = Recurse(u, x => x.parts).Where(x => x != null).Select(x => x.word) }"),
        define("B", "map('Users', u => ({ word: recurse(u, x => x.parts).map(x => x.word) }))"),
        define("C", "from u in docs.Users select new { above = Recurse(u, x => LoadDocument(x.manager, \"Users\")).Where(x => x != null).Select(x => x.name) }"),
        define("D", "map('Users', u => ({ above: recurse(u, x => load(x.manager, 'Users')).map(x => x.name) }))"));
    for (const index of ["A", "B"])
        for (const [word, found] of [["a", ["Ada"]], ["c", ["Ada"]], ["d", ["Bob"]], ["e", []]])
            assert.deepEqual(await names(ask(store, index).whereEquals("word", word)), found, `${index} ${word}`);
    for (const index of ["C", "D"]) {
        assert.deepEqual(await names(ask(store, index).whereEquals("above", "Ada")), ["Ada", "Dan", "Eli"], index);
        assert.deepEqual(await names(ask(store, index).whereEquals("above", "Eli")), ["Eli"], index);
    }

    await change(store, "users/1", user => user.name = "Augusta");
    for (const index of ["C", "D"])
        assert.deepEqual(await names(ask(store, index).whereEquals("above", "Augusta")), ["Augusta", "Dan", "Eli"], index);
    for (const index of ["A", "B", "C", "D"])
        assert.deepEqual((await store.maintenance.send(new GetIndexErrorsOperation([index])))[0].errors, [], index);
}));

test("a changed index is built beside the old one, which answers until then", () => withDatabase(async store => {
    await seed(store, people);
    for (const [name, before, after] of [
        ["Sharp", "from u in docs.Users select new { word = u.name }", "from u in docs.Users select new { word = u.name + \"!\" }"],
        ["Script", "map('Users', u => ({ word: u.name }))", "map('Users', u => ({ word: u.name + '!' }))"],
    ]) {
        await put(store, define(name, before));
        assert.deepEqual(await names(ask(store, name).whereEquals("word", "Ada")), ["Ada"]);
        await store.maintenance.send(new DisableIndexOperation(name));
        await put(store, define(name, after, { state: "Disabled" }));
        const beside = `ReplacementOf/${name}`;
        assert.deepEqual((await store.maintenance.send(new GetIndexNamesOperation(0, 10))).filter(one => one.endsWith(name)).sort(), [beside, name].sort());
        const listed = (await store.maintenance.send(new GetStatisticsOperation())).indexes.map(index => index.name);
        assert.ok(listed.includes(beside), `${listed}`);
        const replacement = await store.maintenance.send(new GetIndexOperation(beside));
        assert.match([...replacement.maps][0], /!/);
        assert.deepEqual((await store.openSession().query({ documentType: User, indexName: name }).whereEquals("word", "Ada").all()).map(user => user.name), ["Ada"]);

        await store.maintenance.send(new DeleteIndexOperation(beside));
        assert.deepEqual((await store.maintenance.send(new GetIndexNamesOperation(0, 10))).filter(one => one.endsWith(name)), [name]);
        assert.match([...(await store.maintenance.send(new GetIndexOperation(name))).maps][0], /^[^!]*$/);

        await put(store, define(name, after));
        await store.maintenance.send(new EnableIndexOperation(name));
        assert.deepEqual(await names(ask(store, name).whereEquals("word", "Ada!")), ["Ada"]);
        assert.deepEqual((await store.maintenance.send(new GetIndexesOperation(0, 10))).map(index => index.name).filter(one => one.endsWith(name)), [name]);
    }
}));
