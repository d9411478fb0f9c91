using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>
/// Opens what a crash left and verifies it: the content is a complete state of the history, not older than the last
/// acknowledged one; the check finds no problems; recovery writes nothing. An encrypted environment must open with the right
/// key only, and contain no plaintext.
/// </summary>
internal sealed class CrashVerifier(Scenario scenario, Tally tally, NonceRecorder seals)
{
    private int _openings;

    private static readonly Change[] _marker =
        [new(ChangeKind.Put, 3, Key: 7, Length: 40, Version: 77), new(ChangeKind.Put, 0, Key: 8, Length: 3000, Version: 78)];

    /// <summary>
    /// Throws unless the image recovers, with one of the keys, to a state between <paramref name="required"/> and the last
    /// one of the history.
    /// </summary>
    public void Verify(DiskImage image, History history, long required, IReadOnlyList<int> keys, bool isThorough)
    {
        tally.AddRecovery(scenario.IsEncrypted);
        if (scenario.IsEncrypted && image.FindMarker() is { } file)
            throw new TortureFailure($"'{file}' of an encrypted environment holds bytes of a key or value as they are.");
        var disk = new SimulatedDisk(new Random(unchecked((int)image.Hash)), image)
        {
            MapsSeeWrites = scenario.MapsSeeWrites,
            RefusesAllocation = scenario.RefusesAllocation
        };
        long found = OpenAndCompare(disk, history, required, keys, out bool wasThere, isThorough ? FollowUp : null);
        if (wasThere && !isThorough)
            return;

        // Recovering the recovered files again must give the same result.
        if (isThorough)
            return;
        disk.Restart(disk.Image());
        long again = OpenAndCompare(disk, history, found, keys, out _, null);
        if (again != found)
            throw new TortureFailure($"Recovered again it is transaction {again}, it was {found}.");
    }

    /// <summary>
    /// Continues after the crash: the first writes after recovery, themselves crashed at each point, and a clean close.
    /// </summary>
    private void FollowUp(SimulatedDisk disk, StorageEnvironment environment, History before, long found, IReadOnlyList<int> keys)
    {
        History history = before.Branch(found);
        var plain = new CrashVerifier(scenario, tally, seals) { _openings = unchecked((_openings * 31) + 1) };
        var random = new Random(unchecked((int)history.HashAt(found)));
        TortureFailure? failure = null;
        disk.Acting = (kind, _) =>
        {
            if (kind is not (DiskOperation.Sync or DiskOperation.SyncDirectory) || failure is not null)
                return;

            try
            {
                Explore(plain, disk, history, CrashExplorer.Required(environment, scenario.Options), keys, random);
            }
            catch (TortureFailure error)
            {
                failure = error;
                disk.PowerOff();
            }
        };
        try
        {
            environment.Write(transaction =>
            {
                Model.Apply(transaction, _marker);
                history.Submit(transaction.TransactionId, _marker);
                return true;
            });
            environment.Checkpoint();
            environment.Dispose();
        }
        catch (Exception) when (failure is not null)
        {
            // The power was turned off because of the failure.
        }

        disk.Acting = null;
        if (failure is not null)
            throw new TortureFailure($"In the first writes after recovery: {failure.Message}", failure.Story, failure);

        disk.Restart(disk.Image());
        OpenAndCompare(disk, history, history.Last, keys, out _, null);
    }

    private static void Explore(
        CrashVerifier verifier, SimulatedDisk disk, History history, long required, IReadOnlyList<int> keys, Random random)
    {
        var loss = new PowerLoss(disk);
        if (loss.Options.Count == 0)
            return;

        foreach (CrashOutcome outcome in (CrashOutcome[])
        [
            loss.None(), loss.All(), loss.Heads(areKept: false), loss.Draw(random, true), loss.Draw(random, true)
        ])
        {
            DiskImage image = outcome.Build();
            if (!verifier.Note(image, history, required))
                continue;

            try
            {
                verifier.Verify(image, history, required, keys, isThorough: false);
            }
            catch (TortureFailure error)
            {
                throw new TortureFailure(
                    error.Message, error.Story.Concat(outcome.Describe().Select(line => "    " + line)), error);
            }
        }
    }

    /// <summary>
    /// Opens with the first key that fits. The ones before must be refused without changes.
    /// </summary>
    public static StorageEnvironment Open(World world, Scenario scenario, IReadOnlyList<int> keys, out int key)
    {
        for (int i = 0; ; i++)
        {
            try
            {
                key = keys[i];
                return StorageEnvironment.Open(world, scenario.OptionsWith(key));
            }
            catch (EncryptionKeyException) when (i < keys.Count - 1)
            {
                // Try the next key.
            }
        }
    }

    /// <summary>Counts an image. Returns false if it was already verified for this history.</summary>
    public bool Note(DiskImage image, History history, long required) =>
        tally.TryAdd(
            image.Hash, unchecked(history.HashAt(history.Last) + ((ulong)required * 31) + (scenario.MapsSeeWrites ? 1UL : 0)));

    private long OpenAndCompare(
        SimulatedDisk disk, History history, long required, IReadOnlyList<int> keys, out bool wasThere,
        Action<SimulatedDisk, StorageEnvironment, History, long, IReadOnlyList<int>>? goOn)
    {
        wasThere = disk.List().Contains("data.treepie");
        var clock = new SimulatedClock();
        disk.DirectClock = scenario.WritesDirectly ? clock : null;
        var world = new World(disk, clock, new Random(7), IsBackgroundAllowed: false)
        {
            PagesPerBitmap = scenario.PagesPerBitmap,
            Secrets = SecretDraw.Of(scenario.Seed, disk.Image().Hash, _openings++).Fill,
            Seals = scenario.IsEncrypted ? seals.Observer : null,
        };
        StorageEnvironment? environment = null;
        try
        {
            environment = Open(world, scenario, keys, out int opened);
            if (wasThere && disk.Operations > 0)
                throw new TortureFailure($"Recovery changed the disk ({disk.Operations} operations).");

            long found;
            using (ReadTransaction read = environment.BeginRead())
            {
                found = read.TransactionId;
                if (found < required)
                    throw new TortureFailure($"Transaction {required} was durable, but recovery ends with {found}.");
                if (!history.Covers(found))
                    throw new TortureFailure($"Recovery found transaction {found}, the last one submitted is {history.Last}.");
                if (history.At(found).Difference(read, environment) is { } difference)
                    throw new TortureFailure($"Recovery found transaction {found}, but not its state: {difference}.");
            }

            CheckReport report = environment.Check();
            if (!report.IsClean)
                throw new TortureFailure($"Recovery found transaction {found}, but the check complains: {report.Problems[0]}");
            goOn?.Invoke(disk, environment, history, found, [opened]);
            if (seals.Failure is { } repeated)
                throw new TortureFailure(repeated);
            return found;
        }
        catch (Exception error) when (error is not TortureFailure)
        {
            throw new TortureFailure($"What a crash left cannot be used: {error.GetType().Name}: {error.Message}", null, error);
        }
        finally
        {
            disk.Acting = null;
            disk.PowerOff(); // so that closing writes nothing
            environment?.Dispose();
        }
    }
}
