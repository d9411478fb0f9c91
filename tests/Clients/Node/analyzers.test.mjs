import assert from "node:assert/strict";
import { test } from "node:test";
import {
    CreateDatabaseOperation, DeleteAnalyzerOperation, DeleteDatabasesOperation, DeleteIndexOperation, DeleteServerWideAnalyzerOperation, DeleteServerWideSorterOperation,
    DeleteSorterOperation, GetDatabaseRecordOperation, IndexDefinition, PutAnalyzersOperation,
    PutIndexesOperation, PutServerWideAnalyzersOperation, PutServerWideSortersOperation, PutSortersOperation,
} from "ravendb";
import { openStore, seed, User, withDatabase } from "./support.mjs";

const parts = (name, json) => ({ name, code: JSON.stringify(json) });

const define = (name, analyzer) => Object.assign(new IndexDefinition(), {
    name, maps: new Set(["from u in docs.Users select new { u.name }"]), fields: { name: { indexing: "Search", analyzer } },
});

const find = async (store, index, words) =>
    (await store.openSession().query({ documentType: User, indexName: index }).waitForNonStaleResults().search("name", words).all()).map(u => u.name);

const people = { "users/1": new User({ name: "Zoë Müller" }), "users/2": new User({ name: "R&D of Acme" }) };

test("an analyzer of parts is put, used by an index, changed, and deleted when nobody needs it", () => withDatabase(async (store, database) => {
    await seed(store, people);
    await store.maintenance.send(new PutAnalyzersOperation(parts("Names", { Filters: ["LowerCase", "Accents"] })));
    await store.maintenance.send(new PutIndexesOperation(define("ByName", "Names")));
    assert.deepEqual(await find(store, "ByName", "zoe"), ["Zoë Müller"]);
    assert.deepEqual(await find(store, "ByName", "muell*"), []);
    assert.deepEqual(await find(store, "ByName", "Mül*"), ["Zoë Müller"]);
    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(database));
    assert.deepEqual(Object.keys(record.analyzers).map(name => name.toLowerCase()), ["names"]);

    const changed = { CharacterFilters: [{ Map: { "&": " and ", "ü": "ue" } }], Filters: ["LowerCase"] };
    await store.maintenance.send(new PutAnalyzersOperation(parts("Names", changed)));
    let found = [];
    for (let tries = 0; tries < 200 && found.length === 0; tries++) // until the new index has taken the place of the old
        found = await find(store, "ByName", "mueller");
    assert.deepEqual(found, ["Zoë Müller"]);
    assert.deepEqual(await find(store, "ByName", "\"r and d\""), ["R&D of Acme"]);
    assert.deepEqual(await find(store, "ByName", "zoe"), []);

    await assert.rejects(store.maintenance.send(new DeleteAnalyzerOperation("Names")), /'ByName'/);
    await store.maintenance.send(new DeleteIndexOperation("ByName"));
    await store.maintenance.send(new DeleteAnalyzerOperation("Names"));
    await assert.rejects(store.maintenance.send(new PutIndexesOperation(define("ByName", "Names"))), /no analyzer 'Names'/);
}));

test("what cannot be an analyzer is refused with the place of the mistake", () => withDatabase(async store => {
    const put = (...analyzers) => store.maintenance.send(new PutAnalyzersOperation(...analyzers));
    await assert.rejects(put({ name: "Sharp", code: "public class Sharp : Lucene.Net.Analysis.Analyzer { }" }), error => {
        assert.equal(error.name, "AnalyzerCompilationException");
        assert.match(error.message, /takes no code from clients.*"Tokenizer": "Standard"/s);
        return true;
    });
    await assert.rejects(put({ name: "A", code: "{\n \"Filters\": [\"LowerCase\",]\n}" }), /line 2, column 26/);
    await assert.rejects(put(parts("A", { Filters: ["Lowercases"] })), /Filters\[0\].*Did you mean 'LowerCase'/);
    await assert.rejects(put(parts("A", { Filters: [{ Replace: "(?=a)(a+)+$", With: "" }] })), /Filters\[0\]\.Replace/);
    await assert.rejects(put(parts("A", { Filters: [{ StopWords: Array(5000).fill("x") }] })), /1 to 4,096 words/);
    await assert.rejects(put({ name: "A", code: `{${" ".repeat(70_000)}}` }), /65,536/);
    await assert.rejects(put(parts("Good", {}), parts("StandardAnalyzer", {})), /has an analyzer of this name/);
    await put(parts("Slow", { Tokenizer: "Keyword", Filters: [{ Replace: "(a+)+$", With: "" }] })); // is not
    await seed(store, { "users/9": new User({ name: `bb${"a".repeat(30_000)}!` }) });
    await store.maintenance.send(new PutIndexesOperation(define("ByName", "Slow")));
    assert.equal((await find(store, "ByName", "bb*")).length, 1);
}));

test("a sorter of values is put, orders a query, and is deleted", () => withDatabase(async (store, database) => {
    await seed(store, { "users/1": new User({ name: "High" }), "users/2": new User({ name: "low" }), "users/3": new User({ name: "Medium" }) });
    await store.maintenance.send(new PutSortersOperation(parts("ByLevel", { Values: ["Low", "Medium", "High"] })));
    const names = async () => (await store.openSession().query({ documentType: User }).waitForNonStaleResults()
        .orderBy("name", { sorterName: "ByLevel" }).all()).map(u => u.name);
    assert.deepEqual(await names(), ["low", "Medium", "High"]);
    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(database));
    assert.deepEqual(Object.keys(record.sorters).map(name => name.toLowerCase()), ["bylevel"]);
    await store.maintenance.send(new DeleteSorterOperation("ByLevel"));
    await assert.rejects(names(), /no order 'ByLevel'/);
}));

test("analyzers and sorters of the whole server are those of each database that has no own of their name", () => withDatabase(async store => {
    const name = `Everywhere${process.pid}`, server = store.maintenance.server;
    await seed(store, { "users/1": new User({ name: "Zoë" }), "users/2": new User({ name: "abc" }) });
    await server.send(new PutServerWideAnalyzersOperation(parts(name, { Filters: ["LowerCase", "Accents"] })));
    await store.maintenance.send(new PutIndexesOperation(define("ByName", name)));
    assert.deepEqual(await find(store, "ByName", "zoe"), ["Zoë"]);
    await store.maintenance.send(new PutAnalyzersOperation(parts(name, { Filters: ["LowerCase"] })));
    await new Promise(resolve => setTimeout(resolve, 200));
    assert.deepEqual(await find(store, "ByName", "zoë"), ["Zoë"]);
    await server.send(new PutServerWideSortersOperation(parts(name, { Values: ["Zoë", "abc"] })));
    const names = async () => (await store.openSession().query({ documentType: User }).waitForNonStaleResults()
        .orderBy("name", { sorterName: name }).all()).map(u => u.name);
    assert.deepEqual(await names(), ["Zoë", "abc"]);
    await server.send(new DeleteServerWideSorterOperation(name));
    await assert.rejects(names(), /no order/);
    await server.send(new DeleteServerWideAnalyzerOperation(name));
    assert.deepEqual(await find(store, "ByName", "zoë"), ["Zoë"]);
}));

test("sorters in C# are refused by name, and say what there is", () => withDatabase(async store => {
    const sharp = { name: "Mine", code: "class Mine {}" };
    await assert.rejects(store.maintenance.send(new PutSortersOperation(sharp)), error => {
        assert.equal(error.name, "SorterCompilationException");
        assert.match(error.message, /'Mine'.*"Values"/s);
        return true;
    });
    await assert.rejects(store.maintenance.server.send(new PutServerWideSortersOperation(sharp)), /'Mine'.*"Values"/s);
    await assert.rejects(store.maintenance.server.send(new PutServerWideAnalyzersOperation(sharp)), /'Mine'.*"Tokenizer"/s);
}));

test("a database is created with the analyzers of its record", async () => {
    const name = `node-analyzers-${process.pid}`;
    const store = openStore(name);
    try {
        const record = analyzers => new CreateDatabaseOperation({ databaseName: name, analyzers });
        await assert.rejects(store.maintenance.server.send(record({ Bad: { name: "Bad", code: "class Bad {}" } })), /'Bad'/);
        await store.maintenance.server.send(record({ Names: parts("Names", { Filters: ["LowerCase", "Accents"] }) }));
        await seed(store, people);
        await store.maintenance.send(new PutIndexesOperation(define("ByName", "Names")));
        assert.deepEqual(await find(store, "ByName", "ZOE"), ["Zoë Müller"]);
    } finally {
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true })).catch(() => { });
        store.dispose();
    }
});
