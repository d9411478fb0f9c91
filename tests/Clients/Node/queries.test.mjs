import assert from "node:assert/strict";
import { test } from "node:test";
import { Company, seed, User, withDatabase } from "./support.mjs";

const people = {
    "users/1": new User({ name: "Ada", age: 36, city: "London", tags: ["math", "poetry"], bio: "Wrote the first program for the analytical engine", company: "companies/1" }),
    "users/2": new User({ name: "Bob", age: 20, city: "Paris", tags: ["music"], bio: "Plays the violin and the engine of his car", company: "companies/2" }),
    "users/3": new User({ name: "Cyd", age: 54, city: "london", tags: ["math", "music"], bio: "Dances", company: "companies/1" }),
    "users/4": new User({ name: "Dan", age: 9, city: null, tags: [] }),
    "users/5": new User({ name: "Eve", age: 100, city: "Rome", nested: { level: 3.5 } }),
    "companies/1": new Company({ name: "Treepie" }),
    "companies/2": new Company({ name: "Magpie" }),
};

const withPeople = check => withDatabase(async store => {
    await seed(store, people);
    const users = () => store.openSession().query({ documentType: User, collection: "Users" }).waitForNonStaleResults();
    const names = async query => (await query.all()).map(user => user.name).sort();
    await check({ store, users, names });
});

test("every operator of the query builder", async t => {
    await withPeople(async ({ users, names }) => {
        const cases = {
            "whereEquals on text, without case": [q => q.whereEquals("city", "LONDON"), ["Ada", "Cyd"]],
            "whereEquals on text, exact": [q => q.whereEquals("city", "London", true), ["Ada"]],
            "whereEquals on a number": [q => q.whereEquals("age", 36), ["Ada"]],
            "whereEquals on null": [q => q.whereEquals("city", null), ["Dan"]],
            "whereEquals on an element of an array": [q => q.whereEquals("tags", "music"), ["Bob", "Cyd"]],
            "whereEquals on a nested field": [q => q.whereEquals("nested.level", 3.5), ["Eve"]],
            "whereNotEquals": [q => q.whereNotEquals("name", "Ada"), ["Bob", "Cyd", "Dan", "Eve"]],
            "whereGreaterThan": [q => q.whereGreaterThan("age", 36), ["Cyd", "Eve"]],
            "whereGreaterThanOrEqual": [q => q.whereGreaterThanOrEqual("age", 36), ["Ada", "Cyd", "Eve"]],
            "whereLessThan": [q => q.whereLessThan("age", 36), ["Bob", "Dan"]],
            "whereLessThanOrEqual": [q => q.whereLessThanOrEqual("age", 36), ["Ada", "Bob", "Dan"]],
            "whereBetween": [q => q.whereBetween("age", 20, 54), ["Ada", "Bob", "Cyd"]],
            "whereBetween on text": [q => q.whereBetween("name", "bob", "DAN"), ["Bob", "Cyd", "Dan"]],
            "whereIn": [q => q.whereIn("name", ["ada", "Eve", "nobody"]), ["Ada", "Eve"]],
            "whereIn of numbers": [q => q.whereIn("age", [9, 100, 101]), ["Dan", "Eve"]],
            "whereIn of nothing": [q => q.whereIn("name", []), []],
            "whereStartsWith": [q => q.whereStartsWith("city", "LO"), ["Ada", "Cyd"]],
            "andAlso": [q => q.whereEquals("city", "london").andAlso().whereLessThan("age", 40), ["Ada"]],
            "orElse": [q => q.whereEquals("name", "Ada").orElse().whereEquals("name", "Eve"), ["Ada", "Eve"]],
            "and before or": [q => q.whereEquals("name", "Eve").orElse().whereEquals("city", "london").andAlso().whereLessThan("age", 40), ["Ada", "Eve"]],
            "subclauses": [q => q.openSubclause().whereEquals("name", "Eve").orElse().whereEquals("city", "london").closeSubclause()
                .andAlso().whereGreaterThan("age", 40), ["Cyd", "Eve"]],
            "not": [q => q.whereEquals("city", "london").andAlso().not().whereEquals("name", "Ada"), ["Cyd"]],
            "not first": [q => q.not().whereEquals("city", "london"), ["Bob", "Dan", "Eve"]],
            "search": [q => q.search("bio", "engine"), ["Ada", "Bob"]],
            "search for any of several words": [q => q.search("bio", "violin dances"), ["Bob", "Cyd"]],
            "search for all of several words": [q => q.search("bio", "engine violin", "AND"), ["Bob"]],
            "search for a beginning": [q => q.search("bio", "anal*"), ["Ada"]],
            "the id": [q => q.whereEquals("id", "users/3"), ["Cyd"]],
            "ids": [q => q.whereIn("id", ["users/3", "users/5"]), ["Cyd", "Eve"]],
            "nothing": [q => q, ["Ada", "Bob", "Cyd", "Dan", "Eve"]],
        };
        for (const [name, [build, expected]] of Object.entries(cases))
            await t.test(name, async () => assert.deepEqual(await names(build(users())), expected));
    });
});

test("order by text, whole numbers and fractions, both ways", () => withPeople(async ({ users }) => {
    const ordered = async query => (await query.all()).map(user => user.name);
    assert.deepEqual(await ordered(users().orderBy("name")), ["Ada", "Bob", "Cyd", "Dan", "Eve"]);
    assert.deepEqual(await ordered(users().orderByDescending("name")), ["Eve", "Dan", "Cyd", "Bob", "Ada"]);
    assert.deepEqual(await ordered(users().orderBy("age", "Long")), ["Dan", "Bob", "Ada", "Cyd", "Eve"]);
    assert.deepEqual(await ordered(users().orderByDescending("age", "Double")), ["Eve", "Cyd", "Ada", "Bob", "Dan"]);
    assert.deepEqual(await ordered(users().whereEquals("city", "london").orderByDescending("age", "Long")), ["Cyd", "Ada"]);
    assert.deepEqual(await ordered(users().whereExists("city").orderBy("city").orderBy("age", "Long")).then(all => all.slice(-4)), ["Ada", "Cyd", "Bob", "Eve"]);
}));

test("pages with totals and statistics", () => withPeople(async ({ users }) => {
    let statistics;
    const page = await users().orderBy("age", "Long").skip(1).take(2).statistics(s => statistics = s).all();
    assert.deepEqual(page.map(user => user.name), ["Bob", "Ada"]);
    assert.equal(statistics.totalResults, 5);
    assert.equal(statistics.isStale, false);
    assert.equal(statistics.indexName, "Auto/Users/Byage");
    assert.ok(statistics.indexTimestamp instanceof Date);
    assert.ok(statistics.durationInMs >= 0);
    assert.equal(await users().whereGreaterThan("age", 30).count(), 3);
    assert.equal(await users().whereEquals("name", "nobody").any(), false);
    assert.equal((await users().whereEquals("name", "Ada").single()).name, "Ada");
    assert.equal(await users().whereEquals("name", "nobody").firstOrNull(), null);
}));

test("fields alone are selected, and are not tracked", () => withPeople(async ({ users }) => {
    const rows = await users().orderBy("age", "Long").selectFields(["name", "age"]).all();
    assert.deepEqual(rows.map(row => [row.name, row.age]), [["Dan", 9], ["Bob", 20], ["Ada", 36], ["Cyd", 54], ["Eve", 100]]);
    assert.equal(rows[0].tags, undefined);
}));

test("distinct rows are those of the fields that are selected, whatever types other members have", () => withDatabase(async store => {
    await seed(store, {
        "users/1": new User({ name: "Ada", company: "companies/1", born: new Date(0) }), "users/2": new User({ name: "Bob", company: "companies/1" }),
        "users/3": new User({ name: "Cyd", company: "companies/2", born: null }),
    });
    const users = () => store.openSession().query({ documentType: User, collection: "Users" }).waitForNonStaleResults();
    assert.deepEqual(await users().orderBy("name").selectFields("company").distinct().all(), ["companies/1", "companies/2"]);
    assert.deepEqual((await users().orderBy("name").selectFields(["company", "born"]).distinct().all()).map(row => row.company), ["companies/1", "companies/1", "companies/2"]);
}));

test("numbers as JavaScript writes them, and ranges without an end", () => withPeople(async ({ users, names }) => {
    for (const factor of [0, 1e-7, 1e12])
        assert.deepEqual(await names(users().whereEquals("age", 36).boost(factor).orElse().whereEquals("age", 20)), ["Ada", "Bob"]);
    assert.deepEqual(await names(users().whereEquals("name", "ad").fuzzy(1e-7)), ["Ada"]);
    await assert.rejects(users().whereEquals("age", 36).boost(1e21).all(), /from 1E-09 to/);
    assert.deepEqual(await names(users().whereBetween("age", null, 20)), ["Bob", "Dan"]);
    assert.deepEqual(await names(users().whereBetween("age", 54, null)), ["Cyd", "Eve"]);
}));

test("included documents come with the results", () => withPeople(async ({ store }) => {
    const session = store.openSession();
    const [user] = await session.query({ documentType: User, collection: "Users" }).whereEquals("name", "Bob").include("company").waitForNonStaleResults().all();
    const before = session.advanced.numberOfRequests;
    assert.equal((await session.load(user.company, Company)).name, "Magpie");
    assert.equal(session.advanced.numberOfRequests, before);
}));

test("RQL by hand, with parameters", () => withPeople(async ({ store }) => {
    const session = store.openSession();
    const raw = (text, parameters = {}) => {
        let query = session.advanced.rawQuery(text).waitForNonStaleResults();
        for (const [name, value] of Object.entries(parameters))
            query = query.addParameter(name, value);
        return query.all();
    };
    const names = async (text, parameters) => (await raw(text, parameters)).map(user => user.name);
    assert.deepEqual(await names("from Users where age between $low and $high order by age as long desc", { low: 10, high: 60 }), ["Cyd", "Ada", "Bob"]);
    assert.deepEqual(await names("from Users where name in ($names) order by name", { names: ["Ada", "Bob"] }), ["Ada", "Bob"]);
    assert.deepEqual(await names("from Users where search(bio, $words) order by name limit 1 offset 1", { words: "engine" }), ["Bob"]);
    assert.deepEqual(await names("from Users where startsWith(name, 'e') or not city = 'London' and age < 10 order by name"), ["Dan", "Eve"]);
    assert.deepEqual(await names("from Users as u where u.city = 'paris' // a comment"), ["Bob"]);
    const rows = await raw("from Users where age > 50 order by age as long select name as who, age");
    assert.deepEqual(rows.map(row => [row.who, row.age]), [["Cyd", 54], ["Eve", 100]]);
    assert.equal((await raw("from @all_docs")).length, 7);
}));

test("documents stored later are found once the index has seen them", () => withPeople(async ({ store, users }) => {
    assert.equal(await users().whereEquals("name", "Zoe").count(), 0);
    await seed(store, { "users/9": new User({ name: "Zoe" }) });
    assert.equal(await users().whereEquals("name", "Zoe").count(), 1);
    const session = store.openSession();
    await session.delete("users/9");
    await session.saveChanges();
    assert.equal(await users().whereEquals("name", "Zoe").count(), 0);
}));

test("a query that is not RQL is refused with line and column", () => withPeople(async ({ store }) => {
    await assert.rejects(
        store.openSession().advanced.rawQuery("from Users\nwhere name = = 'Ada'").all(),
        error => error.name === "InvalidQueryException" && /2:14|line 2.*(column|col) 14/is.test(error.message));
}));

test("an index that is not there is named", () => withPeople(async ({ store }) => {
    await assert.rejects(
        store.openSession().query({ indexName: "Users/ByNothing" }).all(),
        error => error.name === "IndexDoesNotExistException" && error.message.includes("Users/ByNothing"));
}));

test("a collection that is not there has no documents", () => withPeople(async ({ store }) => {
    assert.deepEqual(await store.openSession().query({ collection: "Nobodies" }).whereEquals("name", "x").waitForNonStaleResults().all(), []);
}));

test("the same query again is answered from the client's cache, until something changes", () => withPeople(async ({ store }) => {
    const ask = async () => (await store.openSession().query({ collection: "Users" }).whereEquals("city", "Rome").waitForNonStaleResults().all()).length;
    assert.equal(await ask(), 1);
    assert.equal(await ask(), 1);
    await seed(store, { "users/7": new User({ name: "Flo", city: "Rome" }) });
    assert.equal(await ask(), 2);
}));
