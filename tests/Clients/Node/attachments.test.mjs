// Attachments of documents, with the client as published.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { DeleteAttachmentOperation, GetAttachmentOperation, GetStatisticsOperation, PutAttachmentOperation } from "ravendb";
import { seed, url, User, withDatabase } from "./support.mjs";

async function contentOf(result) {
    const pieces = [];
    for await (const piece of result.data)
        pieces.push(piece);
    result.dispose?.();
    return Buffer.concat(pieces);
}

test("an operation puts an attachment, reads it and deletes it", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    for (const size of [0, 10, 3_000_000]) {
        const content = randomBytes(size);
        const put = await store.operations.send(new PutAttachmentOperation("users/1", `f${size}.bin`, content, "image/png"));
        assert.deepEqual([put.name, put.documentId, put.size, put.contentType], [`f${size}.bin`, "users/1", size, "image/png"]);
        assert.equal(put.hash, createHash("sha256").update(content).digest("base64"));
        const read = await store.operations.send(new GetAttachmentOperation("users/1", `F${size}.BIN`, "Document", null));
        assert.deepEqual([read.details.size, read.details.contentType, read.details.hash, read.details.changeVector], [size, "image/png", put.hash, put.changeVector]);
        assert.ok(content.equals(await contentOf(read)));
    }
    assert.equal(await store.operations.send(new GetAttachmentOperation("users/1", "none", "Document", null)) ?? null, null);
    await store.operations.send(new DeleteAttachmentOperation("users/1", "f10.bin"));
    const statistics = await store.maintenance.send(new GetStatisticsOperation());
    assert.deepEqual([statistics.countOfAttachments, statistics.countOfUniqueAttachments], [2, 2]);
    await assert.rejects(store.operations.send(new PutAttachmentOperation("users/2", "f", Buffer.from("x"))), { name: "DocumentDoesNotExistException" });
}));

test("a session stores, lists, renames, copies, moves and deletes in one batch with documents", () => withDatabase(async store => {
    const session = store.openSession();
    const user = new User({ name: "Ada" });
    await session.store(user, "users/1");
    await session.store(new User({ name: "Bob" }), "users/2");
    session.advanced.attachments.store("users/1", "a.txt", Buffer.from("hello"), "text/plain");
    session.advanced.attachments.store("users/1", "big", randomBytes(2_000_000));
    await session.saveChanges();
    const other = store.openSession();
    const loaded = await other.load("users/1", User);
    assert.deepEqual(other.advanced.attachments.getNames(loaded).map(x => [x.name, x.size, x.contentType]), [["a.txt", 5, "text/plain"], ["big", 2_000_000, ""]]);
    assert.equal(await other.advanced.attachments.exists("users/1", "A.TXT"), true);
    assert.equal(await other.advanced.attachments.exists("users/1", "none"), false);
    other.advanced.attachments.rename("users/1", "a.txt", "b.txt");
    other.advanced.attachments.copy("users/1", "big", "users/2", "copy");
    await other.saveChanges();
    const third = store.openSession();
    third.advanced.attachments.move("users/1", "b.txt", "users/2", "c.txt");
    third.advanced.attachments.delete("users/1", "big");
    await third.saveChanges();
    const last = store.openSession();
    assert.deepEqual(last.advanced.attachments.getNames(await last.load("users/2", User)).map(x => x.name), ["c.txt", "copy"]);
    assert.deepEqual(last.advanced.attachments.getNames(await last.load("users/1", User)), []);
    assert.equal((await contentOf(await last.advanced.attachments.get("users/2", "c.txt"))).toString(), "hello");
}));

test("ranges and conditions are answered as browsers ask them", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const content = randomBytes(2_500_000);
    const put = await store.operations.send(new PutAttachmentOperation("users/1", "f", content));
    const ask = headers => fetch(`${url}/databases/${name}/attachments?id=users/1&name=f`, { headers });
    for (const [range, from, to] of [["bytes=0-0", 0, 1], ["bytes=1048570-1048590", 1048570, 1048591], ["bytes=2499990-", 2499990, 2500000], ["bytes=-5", 2499995, 2500000], ["bytes=7-99999999", 7, 2500000]]) {
        const response = await ask({ Range: range });
        assert.deepEqual([response.status, response.headers.get("content-range")], [206, `bytes ${from}-${to - 1}/2500000`]);
        assert.ok(content.subarray(from, to).equals(Buffer.from(await response.arrayBuffer())));
    }
    assert.equal((await ask({ Range: "bytes=2500000-" })).status, 416);
    assert.equal((await ask({ "If-None-Match": `"${put.changeVector}"` })).status, 304);
    const stale = await fetch(`${url}/databases/${name}/attachments?id=users/1&name=f`, { method: "PUT", body: "x", headers: { "If-Match": "\"A:1-x\"" } });
    assert.equal(stale.status, 409);
}));

test("an attachment is replaced and deleted by who knows its state", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const first = await store.operations.send(new PutAttachmentOperation("users/1", "f", Buffer.from("one"), "text/plain"));
    const change = (method, changeVector, body) => fetch( // the client's own operations fail where they are given a change vector
        `${url}/databases/${name}/attachments?id=users/1&name=f&contentType=text/plain`,
        { method, body, headers: { "If-Match": `"${changeVector}"` } });
    const { ChangeVector: changeVector, Hash: hash } = await (await change("PUT", first.changeVector, "two")).json();
    assert.notEqual(changeVector, first.changeVector);
    assert.equal((await change("PUT", first.changeVector, "three")).status, 409);
    assert.equal((await change("DELETE", first.changeVector)).status, 409);
    const head = await fetch(`${url}/databases/${name}/attachments?id=users/1&name=f`, { method: "HEAD" });
    assert.deepEqual(
        ["etag", "attachment-hash", "attachment-size", "content-type", "content-length"].map(header => head.headers.get(header)),
        [`"${changeVector}"`, hash, "3", "text/plain", "3"]);
    assert.equal((await change("DELETE", changeVector)).status, 204);
    assert.equal((await fetch(`${url}/databases/${name}/attachments?id=users/1&name=f`, { method: "HEAD" })).status, 404);
}));

test("bulk insert takes attachments between documents", () => withDatabase(async store => {
    const bulk = store.bulkInsert();
    const contents = [];
    for (let i = 0; i < 20; i++) {
        await bulk.store(new User({ name: `u${i}` }), `users/${i}`);
        contents.push(randomBytes(i === 7 ? 1_500_000 : i * 11));
        await bulk.attachmentsFor(`users/${i}`).store("f", contents[i], "image/png");
    }
    await bulk.finish();
    for (const i of [0, 1, 7, 19])
        assert.ok(contents[i].equals(await contentOf(await store.operations.send(new GetAttachmentOperation(`users/${i}`, "f", "Document", null)))));
}));

test("an upload that is cut in the middle leaves nothing", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const cut = new ReadableStream({
        async start(controller) {
            for (let i = 0; i < 30; i++)
                controller.enqueue(randomBytes(100_000));
            controller.error(new Error("cut"));
        },
    });
    await assert.rejects(fetch(`${url}/databases/${name}/attachments?id=users/1&name=f`, { method: "PUT", body: cut, duplex: "half" }));
    const statistics = await store.maintenance.send(new GetStatisticsOperation());
    assert.deepEqual([statistics.countOfAttachments, statistics.countOfUniqueAttachments], [0, 0]);
}));
