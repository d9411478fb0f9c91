// JavaScript in queries, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Company, seed, User, withDatabase } from "./support.mjs";

const people = { "companies/1": new Company({ name: "Treepie" }), "users/1": Object.assign(new User({ name: "Ada", age: 36 }), { company: "companies/1", tags: ["x", "y"] }), "users/2": Object.assign(new User({ name: "Bob", age: 20 }), { company: "companies/2", tags: [] }) };

test("a projection computes", () => withDatabase(async store => {
    await seed(store, people);
    const rows = await store.openSession().advanced.rawQuery(
        "from Users as u where u.age > $least order by u.name select { upper: u.name.toUpperCase(), older: u.age + $more, n: u.tags.length, id: id(u) }", Object)
        .addParameter("least", 10).addParameter("more", 1).waitForNonStaleResults().all();
    assert.deepEqual(rows.map(row => [row.upper, row.older, row.n, row.id]), [["ADA", 37, 2, "users/1"], ["BOB", 21, 0, "users/2"]]);
}));

test("a declared function and a loaded document", () => withDatabase(async store => {
    await seed(store, people);
    const rows = await store.openSession().advanced.rawQuery(`
        declare function row(u, c) { return { name: u.name, company: c ? c.name : null }; }
        from Users as u order by u.name load u.company as c select row(u, c)`, Object).waitForNonStaleResults().all();
    assert.deepEqual(rows.map(row => [row.name, row.company]), [["Ada", "Treepie"], ["Bob", null]]);
}));


test("filter looks at documents, at so many as it may", () => withDatabase(async store => {
    await seed(store, people);
    const session = store.openSession();
    const found = await session.advanced.rawQuery("from Users filter age > 30 and name = 'ADA'", User).all();
    assert.deepEqual(found.map(user => user.name), ["Ada"]);
    assert.equal((await session.advanced.rawQuery("from Users filter age > 0 filter_limit 1", User).all()).length, 1);
    await assert.rejects(session.advanced.rawQuery("from Users as u select { a: u. }", User).all(), error => /line 1/.test(error.message));
}));
