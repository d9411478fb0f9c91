using System.Collections.Concurrent;
using System.Text;
using Treepie.Backups;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>
/// A full snapshot, increments and stretches of the log, all taken while several callers write, and restored to commits in their
/// midst.
/// </summary>
public sealed class PointInTimeUnderLoadTests
{
    private const int Writers = 3;
    private const int IdsOfWriter = 15;
    private const int Parts = 9;
    private const int MostWritesPerPart = 5_000;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Each_commit_in_the_midst_of_writers_has_exactly_what_was_written_up_to_its_etag()
    {
        using var files = new TemporaryDirectory();
        var random = new Random(Seed.Next());
        await using Database database = Database.Open(Path.Combine(files.Path, "source"));
        await database.KeepLogAsync(256 << 20, Cancel);
        var written = new ConcurrentQueue<(long Etag, string Id, byte[]? Body)>();
        int mostWritten = 0; // however slow a backup is, the log of what is written meanwhile is kept
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task[] writers =
            [.. Enumerable.Range(0, Writers).Select(writer => Task.Run(() => WriteAsync(writer, random.Next()), Cancel))];

        var parts = new List<BackupPart>();
        var ends = new List<BackupReport>();
        try
        {
            for (int i = 0; i < Parts; i++)
            {
                int before = written.Count;
                Volatile.Write(ref mostWritten, before + MostWritesPerPart);
                await Eventually.TrueAsync(
                    () => written.Count > before + 20 || writers.Any(writer => writer.IsFaulted), "the writers write");
                string path = Path.Combine(files.Path, $"part-{i}");
                BackupKind kind = i % 4 == 0 ? BackupKind.Snapshot : BackupKind.Log;
                ends.Add(
                    await database.BackupAsync(
                        path, new BackupOptions { Kind = kind, Since = ends.LastOrDefault()?.Link }, null, Cancel));
                parts.Add(BackupPart.OfFile(path));
            }
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(writers);
        }

        // Any commit that the log has, not only where a part ends. A transaction that changed nothing, as a deletion of nothing,
        // has a number and no commit.
        for (int i = 0; i < 8; i++)
        {
            int part = i == 0 ? Parts - 1 : random.Next(1, Parts);
            long commit = i % 2 == 0 || part % 4 == 0
                ? ends[part].LastCommit
                : random.NextInt64(ends[part - 1].LastCommit + 1, ends[part].LastCommit + 1);
            string target = Path.Combine(files.Path, "restored");
            BackupReport report = await Database.RestoreAsync(
                parts, target, new RestoreOptions { StopAtCommit = commit }, null, Cancel);
            await using (Database restored = Database.Open(target))
            {
                if (commit == ends[part].LastCommit)
                    Assert.Equal(commit, report.LastCommit);
                if (commit == ends[part].LastCommit && ends[part].Kind == BackupKind.Snapshot)
                    Assert.Equal(ends[part].LastEtag, restored.LastEtag);
                Assert.InRange(report.LastCommit, ends[part - 1].LastCommit, commit);
                AssertIs(
                    restored, written.Where(change => change.Etag <= restored.LastEtag).OrderBy(change => change.Etag),
                    $"commit {commit}, etag {restored.LastEtag}");
            }

            Directory.Delete(target, recursive: true);
        }

        async Task WriteAsync(int writer, int seed)
        {
            var own = new Random(seed);
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                if (written.Count >= Volatile.Read(ref mostWritten))
                {
                    await Task.Delay(1, CancellationToken.None);
                    continue;
                }

                string id = $"writer-{writer}/{own.Next(IdsOfWriter)}";
                byte[]? body = own.Next(5) == 0
                    ? null
                    : Encoding.UTF8.GetBytes($"{{\"n\":{i},\"text\":\"{new string('x', own.Next(300))}\"}}");
                var batch = new WriteBatch();
                if (body is null)
                    batch.Delete(id);
                else
                    batch.Put(id, body);
                WriteResult result = (await database.WriteAsync(batch, CancellationToken.None))[0];
                if (result.Etag > 0)
                    written.Enqueue((result.Etag, id, body));
            }
        }
    }

    private static void AssertIs(Database restored, IEnumerable<(long Etag, string Id, byte[]? Body)> changes, string what)
    {
        var expected = new Dictionary<string, byte[]>();
        foreach ((_, string id, byte[]? body) in changes)
        {
            if (body is null)
                expected.Remove(id);
            else
                expected[id] = body;
        }

        using DatabaseSnapshot snapshot = restored.BeginRead();
        foreach (string id in Enumerable.Range(0, Writers * IdsOfWriter)
            .Select(i => $"writer-{i / IdsOfWriter}/{i % IdsOfWriter}"))
        {
            bool isThere = snapshot.TryGet(id, out Document document);
            Assert.True(isThere == expected.TryGetValue(id, out byte[]? body), $"{what}: {id} is {(isThere ? "" : "not ")}there");
            Assert.True(!isThere || document.Body.SequenceEqual(body), $"{what}: {id} is another version");
        }
    }
}
