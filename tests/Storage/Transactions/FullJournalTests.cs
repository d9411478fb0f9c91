using System.Text;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// The disk is full while the journal is written, although its blocks were allocated: each waiting writer is told what is true,
/// and what is found afterwards is what was acknowledged.
/// </summary>
public sealed class FullJournalTests
{
    /// <summary>How many writes and syncs after an opening find the disk full, one after the other.</summary>
    private const int Calls = 16;

    private const int Commands = 8;
    private const string FileInUse = "journal-0001.treepie";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0)]
    [InlineData(48)]
    [InlineData(int.MaxValue)]
    public async Task Under_a_frame_its_writers_do_not_know_and_all_others_have_written_nothing(int writtenBytes)
    {
        var disk = new SimulatedDisk(new Random(1)) { LeavesGarbage = false };
        var files = new WatchedFiles(disk);
        using var isSyncing = new ManualResetEventSlim();
        using var isReleased = new ManualResetEventSlim();
        using (StorageEnvironment environment = Open(files))
        {
            Put(environment, "first");
            files.OnJournalSync = name =>
            {
                if (name != FileInUse)
                    return; // a spare file that is being created

                isSyncing.Set();
                isReleased.Wait(Token);
            };
            Task inFrame = Task.Run(() => Put(environment, "frame"), Token);
            isSyncing.Wait(Token);
            files.OnJournalSync = null;
            Task behind = environment.WriteAsync(transaction => Put(transaction, "behind"), Token).AsTask();
            Task queued = Task.Run(() => Put(environment, "queued"), Token);
            files.FullAfterBytes = writtenBytes;
            isReleased.Set();

            var unknown = await Assert.ThrowsAsync<CommitOutcomeUnknownException>(() => inFrame);
            Assert.Contains("disk was full", unknown.Message, StringComparison.Ordinal);
            Assert.DoesNotContain("Nothing of this", unknown.Message, StringComparison.Ordinal);
            await Assert.ThrowsAsync<WritingStoppedException>(() => behind);
            await Assert.ThrowsAsync<WritingStoppedException>(() => queued);
            files.FullAfterBytes = null;
            int calls = disk.Operations;
            Assert.Throws<WritingStoppedException>(() => Put(environment, "later"));
            Assert.Throws<WritingStoppedException>(() => environment.Checkpoint(Token));
            Assert.Equal(calls, disk.Operations); // nothing is written again
            Assert.Equal(["first"], Keys(environment));
        }

        using (StorageEnvironment next = Open(disk))
        {
            Assert.Equal(writtenBytes < int.MaxValue ? ["first"] : ["first", "frame"], Keys(next));
            Put(next, "next");
            Assert.Empty(next.Check(Token).Problems);
            disk.CrashAt = disk.Operations;
        }

        disk.Crash();
        using StorageEnvironment last = Open(disk);
        Assert.Equal(writtenBytes < int.MaxValue ? ["first", "next"] : ["first", "frame", "next"], Keys(last));
        Assert.Empty(last.Check(Token).Problems);
    }

    [Theory]
    [InlineData("closed")]
    [InlineData("killed")]
    [InlineData("killed after a failed sync")]
    public void At_any_call_after_an_opening_what_is_found_is_what_was_acknowledged(string before)
    {
        int failed = 0;
        foreach (DiskOperation kind in new[] { DiskOperation.Write, DiskOperation.Sync })
            foreach (bool ofData in new[] { false, true })
                for (int call = 0; call < Calls; call++)
                    failed += Run(kind, before, ofData, call) ? 1 : 0;
        Assert.True(failed > Calls, $"Only {failed} calls failed: the test shows nothing.");
    }

    [Fact]
    public void A_file_that_finds_no_room_fails_its_writer_alone_and_writing_goes_on()
    {
        var files = new WatchedFiles(new SimulatedDisk(new Random(1)));
        using (StorageEnvironment environment = Open(files))
        {
            Put(environment, "first");
            files.OnAllocate = name =>
            {
                if (name.StartsWith("journal-", StringComparison.Ordinal))
                    throw new DiskFullException("No room.");
            };
            byte[] large = new byte[4 << 20];
            Random.Shared.NextBytes(large);
            Assert.Throws<DiskFullException>(
                () => environment.Write(transaction => transaction.GetOrCreateTree("t").Put("large"u8, large), Token));
            Put(environment, "small");
            Assert.Equal(["first", "small"], Keys(environment));
            files.OnAllocate = null;
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("large"u8, large), Token);
            Assert.Empty(environment.Check(Token).Problems);
        }

        using StorageEnvironment again = Open(files);
        Assert.Equal(["first", "large", "small"], Keys(again));
    }

    private static bool Run(DiskOperation kind, string before, bool ofData, int call)
    {
        string run = $"{kind} {call}, of data: {ofData}, {before}";
        var disk = new SimulatedDisk(new Random(call)) { LeavesGarbage = false };
        var acknowledged = new SortedSet<string>(StringComparer.Ordinal) { "found" };
        var unknown = new SortedSet<string>(StringComparer.Ordinal);
        bool hasFailed;
        using (StorageEnvironment environment = Open(disk))
        {
            Put(environment, "found");
            if (before == "killed after a failed sync")
            {
                // What is forgotten stays readable, and no later sync writes it.
                disk.Fault = new DiskFault(DiskOperation.Sync, OthersThanData(disk, DiskOperation.Sync), false, OfData: false);
                Assert.Throws<CommitOutcomeUnknownException>(() => Put(environment, "forgotten"));
                unknown.Add("forgotten");
            }

            if (before != "closed")
                disk.CrashAt = disk.Operations;
        }

        disk.Resume();
        using (StorageEnvironment environment = Open(disk))
        {
            int done = ofData ? disk.CountOfData(kind) : OthersThanData(disk, kind);
            disk.Fault = new DiskFault(kind, done + call, IsForever: false, OfData: ofData, IsFull: true);
            for (int command = 0; command < Commands; command++)
            {
                string key = "key " + command;
                try
                {
                    Put(environment, key);
                    acknowledged.Add(key);
                    if (ofData && command == Commands / 2)
                        environment.Checkpoint(Token); // otherwise the journal alone has everything
                }
                catch (CommitOutcomeUnknownException)
                {
                    unknown.Add(key);
                }
                catch (DiskFullException)
                {
                }
                catch (WritingStoppedException)
                {
                }
            }

            AssertHolds(environment, run, acknowledged, unknown);
            hasFailed = (ofData ? disk.CountOfData(kind) : OthersThanData(disk, kind)) > done + call;
            disk.CrashAt = disk.Operations;
        }

        disk.Crash();
        using (StorageEnvironment again = Open(disk))
        {
            AssertHolds(again, run, acknowledged, unknown);
            unknown.IntersectWith(Keys(again));
            acknowledged.UnionWith(unknown);
            Put(again, "last");
            acknowledged.Add("last");
        }

        using StorageEnvironment closed = Open(disk);
        AssertHolds(closed, run, acknowledged, []);
        return hasFailed;
    }

    private static int OthersThanData(SimulatedDisk disk, DiskOperation kind) => disk.Count(kind) - disk.CountOfData(kind);

    private static void AssertHolds(
        StorageEnvironment environment, string run, SortedSet<string> acknowledged, SortedSet<string> unknown)
    {
        string[] keys = Keys(environment);
        Assert.True(
            acknowledged.IsSubsetOf(keys) && keys.All(key => acknowledged.Contains(key) || unknown.Contains(key)),
            $"{run}: found {string.Join(", ", keys)}; acknowledged {string.Join(", ", acknowledged)}; unknown "
            + string.Join(", ", unknown));
        Assert.Empty(environment.Check(Token).Problems);
    }

    private static StorageEnvironment Open(IFileSystem files) => StorageEnvironment.Open(
        new World(files, TimeProvider.System, new Random(7), files is WatchedFiles),
        new StorageOptions { MaxDataFileBytes = 64 << 20, FirstJournalFileBytes = 1 << 20, ScrubBytesPerSecond = 0 });

    private static void Put(StorageEnvironment environment, string key) =>
        environment.Write(transaction => Put(transaction, key), Token);

    private static bool Put(WriteTransaction transaction, string key) =>
        transaction.GetOrCreateTree("t").Put(Encoding.UTF8.GetBytes(key), "value"u8);

    private static string[] Keys(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        using Cursor cursor = read.FindTree("t")!.OpenCursor();
        var keys = new List<string>();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            keys.Add(Encoding.UTF8.GetString(cursor.Key));
        return [.. keys];
    }
}
