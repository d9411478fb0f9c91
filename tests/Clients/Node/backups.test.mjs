import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
    CreateDatabaseOperation, DelayBackupOperation, DeleteDatabasesOperation, DeleteOngoingTaskOperation, DeleteServerWideTaskOperation, GetOngoingTaskInfoOperation,
    GetPeriodicBackupStatusOperation, GetServerWideBackupConfigurationOperation, GetServerWideBackupConfigurationsOperation, GetStatisticsOperation,
    PutServerWideBackupConfigurationOperation, RestoreBackupOperation, StartBackupOperation, ToggleOngoingTaskStateOperation, ToggleServerWideTaskStateOperation,
    UpdatePeriodicBackupOperation,
} from "ravendb";
import { openStore, seed, url, User, withDatabase } from "./support.mjs";

/** Not while a test runs, whatever the clock says: once in four years. */
const seldom = "0 2 29 2 *";

const inFolder = async work => {
    const folder = await mkdtemp(join(tmpdir(), "treepie-backups-"));
    try {
        await work(folder);
    } finally {
        await rm(folder, { recursive: true });
    }
};

/** The end of an operation of a database: the client gives its number and nothing to wait with. */
async function ended(name, id) {
    for (;;) {
        const state = await (await fetch(`${url}/databases/${name}/operations/state?id=${id}`)).json();
        if (state.Status !== "InProgress")
            return state;
    }
}

test("a periodic backup is kept, run, watched and restored to a new database", () => inFolder(folder => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const kept = await store.maintenance.send(new UpdatePeriodicBackupOperation({
        name: "nightly", backupType: "Backup", fullBackupFrequency: seldom, incrementalBackupFrequency: seldom,
        localSettings: { folderPath: folder }, retentionPolicy: { disabled: false, minimumBackupAgeToKeep: "7.00:00:00" },
    }));
    assert.equal(kept.taskId, 1);
    assert.equal((await store.maintenance.send(new GetPeriodicBackupStatusOperation(kept.taskId))).status, null);

    const started = await store.maintenance.send(new StartBackupOperation(true, kept.taskId));
    assert.equal(started.responsibleNode, "A");
    const end = await ended(name, started.operationId);
    assert.equal(end.Status, "Completed");
    assert.equal(end.Result.IsProven, true);
    const { status } = await store.maintenance.send(new GetPeriodicBackupStatusOperation(kept.taskId));
    assert.ok(status.lastFullBackup instanceof Date);
    assert.equal(status.error, null);
    assert.equal(status.lastOperationId, started.operationId);
    assert.equal((await readdir(status.localBackup.backupDirectory)).length, 1);

    const restored = `${name}-restored`;
    const again = openStore(restored);
    try {
        const operation = await store.maintenance.server.send(new RestoreBackupOperation({ type: "Local", backupLocation: status.localBackup.backupDirectory, databaseName: restored }));
        await operation.waitForCompletion();
        assert.equal((await again.openSession().load("users/2", User)).name, "Bob");
        const twice = store.maintenance.server.send(new RestoreBackupOperation({ type: "Local", backupLocation: status.localBackup.backupDirectory, databaseName: restored }));
        await assert.rejects(twice, { name: "ConcurrencyException" });
    } finally {
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [restored], hardDelete: true })).catch(() => { });
        again.dispose();
    }

    const stats = await (await fetch(`${url}/databases/${name}/stats`)).json();
    assert.equal(stats.LastProvenBackup.Documents, 2);
    assert.deepEqual(stats.BackupAlerts, []);
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 2);
})));

for (const backupType of ["Backup", "Snapshot"]) {
    test(`changes between full backups are saved alone and restored in their order (${backupType})`, () => inFolder(folder => withDatabase(async (store, name) => {
        await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
        const kept = await store.maintenance.send(new UpdatePeriodicBackupOperation({ name: "often", backupType, fullBackupFrequency: seldom, incrementalBackupFrequency: seldom, localSettings: { folderPath: folder } }));
        const run = async isFull => (await ended(name, (await store.maintenance.send(new StartBackupOperation(isFull, kept.taskId))).operationId)).Result;
        await run(true);
        await seed(store, { "users/3": new User({ name: "Cy" }) });
        const session = store.openSession();
        await session.delete("users/1");
        await session.saveChanges();
        await run(false);
        await seed(store, { "users/1": new User({ name: "Ann" }) });
        await run(false);
        await run(false); // nothing has changed: nothing is written

        const { status } = await store.maintenance.send(new GetPeriodicBackupStatusOperation(kept.taskId));
        const points = await (await fetch(`${url}/admin/restore/points`, { method: "POST", body: JSON.stringify({ FolderPath: folder }) })).json();
        assert.deepEqual(points.List.map(point => [point.IsIncremental, point.FilesToRestore]), [[true, 3], [true, 2], [false, 1]]);
        const restored = `${name}-restored`;
        const again = openStore(restored);
        const restore = async file => {
            await (await store.maintenance.server.send(new RestoreBackupOperation({ type: "Local", backupLocation: folder, databaseName: restored, lastFileNameToRestore: file }))).waitForCompletion();
            const found = await again.openSession().load(["users/1", "users/2", "users/3"], User);
            await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [restored], hardDelete: true }));
            return ["users/1", "users/2", "users/3"].map(id => found[id]?.name ?? null);
        };
        try {
            assert.deepEqual(await restore(points.List[0].FileName), ["Ann", "Bob", "Cy"]);
            assert.deepEqual(await restore(points.List[1].FileName), [null, "Bob", "Cy"]);
            assert.deepEqual(await restore(points.List[2].FileName), ["Ada", "Bob", null]);
            await rm(join(folder, points.List[1].FileName));
            await assert.rejects(restore(points.List[0].FileName), /missing|continues/);
        } finally {
            await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [restored], hardDelete: true })).catch(() => { });
            again.dispose();
        }

        assert.equal(status.error, null);
    })));
}

test("a task is looked at, switched off and on, delayed and deleted", () => inFolder(folder => withDatabase(async (store, name) => {
    const send = operation => store.maintenance.send(operation);
    const { taskId } = await send(new UpdatePeriodicBackupOperation({ name: "nightly", backupType: "Backup", fullBackupFrequency: seldom, localSettings: { folderPath: folder } }));
    const task = await send(new GetOngoingTaskInfoOperation(taskId, "Backup"));
    assert.deepEqual([task.taskName, task.taskType, task.taskState, task.responsibleNode.nodeTag], ["nightly", "Backup", "Enabled", "A"]);
    assert.equal((await send(new ToggleOngoingTaskStateOperation(taskId, "Backup", true))).taskId, taskId);
    assert.equal((await send(new GetOngoingTaskInfoOperation("nightly", "Backup"))).taskState, "Disabled");
    await send(new ToggleOngoingTaskStateOperation("nightly", "Backup", false));
    assert.equal((await send(new GetOngoingTaskInfoOperation(taskId, "Backup"))).taskState, "Enabled");
    await send(new DelayBackupOperation(taskId, 3_600_000));
    await assert.rejects(send(new DelayBackupOperation(taskId + 1, 3_600_000)), /no backup task/);
    assert.equal((await send(new DeleteOngoingTaskOperation(taskId, "Backup"))).taskId, taskId);
    assert.deepEqual((await (await fetch(`${url}/databases/${name}/tasks`)).json()).OngoingTasks, []);
})));

test("what cannot be is refused with the reason, and nothing is kept", () => withDatabase(async (store, name) => {
    const put = configuration => store.maintenance.send(new UpdatePeriodicBackupOperation({ name: "bad", backupType: "Backup", localSettings: { folderPath: "/tmp/nowhere" }, ...configuration }));
    await assert.rejects(put({ fullBackupFrequency: "0 25 * * *" }), /'25' is no hour/);
    await assert.rejects(put({ localSettings: null }), /a place to write to/);
    await assert.rejects(put({ azureSettings: { storageContainer: "x" } }), /not built/);
    await assert.rejects(put({ compressionAlgorithm: "Brotli" }), /no compression 'Brotli'/);
    await assert.rejects(put({ compressionAlgorithm: "Zstd", compressionLevel: "Extreme" }), /level 'Extreme'/);
    await assert.rejects(put({ backupType: "Photograph" }), /no backup type 'Photograph'/);
    await assert.rejects(put({ s3Settings: { bucketName: "Wrong_Name", awsAccessKey: "name", awsSecretKey: "hidden-9d1" } }), error => /no name of a bucket/.test(error.message) && !error.message.includes("hidden-9d1"));
    await assert.rejects(store.maintenance.send(new StartBackupOperation(true, 7)), /no backup task 7/);
    const tasks = await (await fetch(`${url}/databases/${name}/tasks`)).json();
    assert.deepEqual(tasks.OngoingTasks, []);
    const operation = await store.maintenance.server.send(new RestoreBackupOperation({ type: "Local", backupLocation: "/tmp/nowhere-at-all", databaseName: `${name}-x` }));
    await assert.rejects(operation.waitForCompletion(), /There is no folder/);
}));

test("a backup of all databases is a task of each, and goes with what made it", () => inFolder(folder => withDatabase(async (store, name) => withDatabase(async (excluded, excludedName) => {
    const { server } = store.maintenance, later = `${name}-later`;
    const countOf = async database => (await (await fetch(`${url}/databases/${database}/tasks`)).json()).OngoingTasks.length;
    const taskOf = (of, database) => of.maintenance.forDatabase(database).send(new GetOngoingTaskInfoOperation("Server Wide Backup, all", "Backup"));
    const configuration = {
        name: "all", backupType: "Backup", fullBackupFrequency: seldom, localSettings: { folderPath: folder }, excludedDatabases: [excludedName],
    };
    const put = await server.send(new PutServerWideBackupConfigurationOperation(configuration));
    assert.equal(put.name, "all");
    try {
        const task = await taskOf(store, name);
        assert.deepEqual([task.taskName, task.fullBackupFrequency, task.taskState], ["Server Wide Backup, all", seldom, "Enabled"]);
        assert.equal(await countOf(excludedName), 0);
        await server.send(new CreateDatabaseOperation({ databaseName: later }));
        assert.equal((await taskOf(store, later)).fullBackupFrequency, seldom);

        const started = await store.maintenance.send(new StartBackupOperation(true, task.taskId));
        assert.equal((await ended(name, started.operationId)).Status, "Completed");
        assert.deepEqual(await readdir(folder), [name]);

        const kept = await server.send(new GetServerWideBackupConfigurationOperation("all"));
        assert.deepEqual([kept.name, kept.localSettings.folderPath, kept.excludedDatabases], ["all", folder, [excludedName]]);
        assert.deepEqual((await server.send(new GetServerWideBackupConfigurationsOperation())).map(one => one.name), ["all"]);
        assert.equal(await server.send(new GetServerWideBackupConfigurationOperation("none")) ?? null, null);
        await server.send(new ToggleServerWideTaskStateOperation("all", "Backup", true));
        assert.equal((await taskOf(store, name)).taskState, "Disabled");
        await server.send(new PutServerWideBackupConfigurationOperation({ ...kept, excludedDatabases: [] }));
        assert.equal((await taskOf(excluded, excludedName)).taskState, "Enabled");
    } finally {
        await server.send(new DeleteServerWideTaskOperation("all", "Backup"));
        await server.send(new DeleteDatabasesOperation({ databaseNames: [later], hardDelete: true }));
    }

    assert.equal(await countOf(name), 0);
    assert.deepEqual(await server.send(new GetServerWideBackupConfigurationsOperation()), []);
}))));
