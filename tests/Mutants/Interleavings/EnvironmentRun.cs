using System.Buffers.Binary;
using System.Security.Cryptography;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Mutants.Interleavings;

/// <summary>
/// Threads write, read, write checkpoints, shrink the file and rotate its key. A write replaces a whole group of keys by its
/// next version. Each reader finds exactly the versions of its transaction, in every group and twice over, and no transaction
/// older than what was acknowledged before it began. The next process finds what was acknowledged last.
/// </summary>
internal sealed class EnvironmentRun(int seed, SimulatedScheduler threads, bool isEncrypted)
{
    private const int Groups = 4;
    private const int KeysPerGroup = 8;
    private const int Steps = 14;

    /// <summary>Many times the turns that any run needs.</summary>
    private const int Patience = 50_000;

    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 256 << 10,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        DecryptedBudgetBytes = 1 << 20,
        DecryptedIdleTime = TimeSpan.FromMilliseconds(200),
    };

    private readonly Random _random = new(seed);
    private readonly SimulatedDisk _disk = new(new Random(seed)) { LeavesGarbage = false };
    private readonly SimulatedClock _clock = new();
    private readonly EncryptionKey _key = EncryptionKey.FromBytes(SHA256.HashData(BitConverter.GetBytes(seed)));
    private readonly Dictionary<long, int[]> _versionsOf = []; // of each transaction
    private readonly int[] _versions = new int[Groups];
    private StorageEnvironment? _environment;
    private long _acknowledged;
    private int _writing;

    private StorageEnvironment Opened => _environment ?? throw new InvalidOperationException("It is opened first.");

    public void Run()
    {
        using (_key)
        {
            threads.Run(RunAll);
            using StorageEnvironment next = Open(new InlineThreads());
            Demand(next.Check().IsClean, "the check of the next process complains");
            using ReadTransaction read = next.BeginRead();
            Verify(read.FindTree("t")!, _versions);
        }
    }

    private void RunAll()
    {
        _environment = Open(threads);
        for (int group = 0; group < Groups; group++)
            Acknowledge(_environment.Write(transaction => Replace(transaction, _random.Next(Groups))));
        List<Action> work = [Write, Write, WriteAhead, Read, Read, Read, Checkpoint];
        if (_random.Next(2) == 0)
            work.Add(Shrink);
        if (isEncrypted)
            work.Add(Rotate);
        int running = work.Count;
        _writing = 3;
        Exception? fault = null;
        foreach (Action one in work)
            threads.Queue(() =>
            {
                try
                {
                    one();
                }
                catch (Exception error)
                {
                    fault ??= error;
                    _writing = 0; // lets the others end
                }
                finally
                {
                    running--;
                }
            });
        for (int turn = 0; running > 0; turn++)
        {
            if (turn == Patience)
                _writing = 0;
            Demand(turn < Patience, "an operation never ends");
            _clock.Advance(TimeSpan.FromMilliseconds(20));
            threads.Yield();
        }

        if (fault is not null)
            throw fault;
        _environment.Dispose();
    }

    private StorageEnvironment Open(IScheduler scheduler) => StorageEnvironment.Open(
        new World(_disk, _clock, new Random(seed), IsBackgroundAllowed: scheduler == threads)
        {
            Scheduler = scheduler,
            Ages = new CoarseClock(() => _clock.NowMs),
            PagesPerBitmap = 64,
        },
        isEncrypted ? _options with { EncryptionKey = _key } : _options);

    private long Replace(WriteTransaction transaction, int group)
    {
        Tree tree = transaction.GetOrCreateTree("t");
        int version = _versions[group] + 1;
        for (int key = 0; key < KeysPerGroup; key++)
            tree.Put(Key(group, key), Value(group, key, version));
        _versions[group] = version;
        _versionsOf[transaction.TransactionId] = [.. _versions];
        return transaction.TransactionId;
    }

    private static byte[] Key(int group, int key) => [(byte)key, (byte)group];

    private static byte[] Value(int group, int key, int version)
    {
        byte[] value = new byte[key == 0 && group == 0 ? 9000 : 40 + (((key * 37) + (version * 11)) % 900)];
        value.AsSpan().Fill((byte)(version + (group * 50) + key));
        BinaryPrimitives.WriteInt32LittleEndian(value, version);
        return value;
    }

    private void Acknowledge(long transaction) => _acknowledged = Math.Max(_acknowledged, transaction);

    private void Write()
    {
        for (int i = 0; i < Steps; i++)
            Acknowledge(Opened.Write(transaction => Replace(transaction, _random.Next(Groups))));
        EndWriting();
    }

    private void WriteAhead()
    {
        for (int i = 0; i < Steps; i += 2)
        {
            Task<long>[] begun =
                [.. Enumerable.Range(0, 2).Select(_ => Opened.WriteAsync(write => Replace(write, _random.Next(Groups))).AsTask())];
            for (int turn = 0; !begun.All(task => task.IsCompleted); turn++)
            {
                Demand(turn < Patience, "a write is never answered");
                threads.Yield();
            }

            foreach (Task<long> task in begun)
                Acknowledge(task.GetAwaiter().GetResult());
        }

        EndWriting();
    }

    private void EndWriting() => _writing = Math.Max(0, _writing - 1);

    private void Read()
    {
        while (_writing > 0)
        {
            long acknowledged = _acknowledged;
            using ReadTransaction read = Opened.BeginRead();
            Demand(
                read.TransactionId >= acknowledged,
                $"a reader gets transaction {read.TransactionId} after {acknowledged} was acknowledged");
            for (int times = _random.Next(1, 4); times > 0; times--)
            {
                Verify(read.FindTree("t")!, VersionsAt(read.TransactionId));
                threads.Yield();
            }
        }
    }

    /// <summary>The versions after a transaction. Transactions of the engine's own change none.</summary>
    private int[] VersionsAt(long transaction)
    {
        while (true)
        {
            if (_versionsOf.TryGetValue(transaction, out int[]? versions))
                return versions;
            transaction--;
        }
    }

    private static void Verify(Tree tree, int[] versions)
    {
        for (int group = 0; group < Groups; group++)
            for (int key = 0; key < KeysPerGroup; key++)
            {
                bool isThere = tree.TryGet(Key(group, key), out ReadOnlySpan<byte> value);
                Demand(isThere == versions[group] > 0, $"key {key} of group {group} is there or not");
                if (isThere)
                    Demand(
                        value.SequenceEqual(Value(group, key, versions[group])),
                        $"key {key} of group {group} has version {BinaryPrimitives.ReadInt32LittleEndian(value)} or none, not "
                            + $"{versions[group]}");
            }
    }

    private void Checkpoint()
    {
        while (_writing > 0)
        {
            Opened.Checkpoint();
            threads.Yield();
        }
    }

    private void Shrink()
    {
        while (_writing > 0)
        {
            Opened.Shrink();
            threads.Yield();
        }
    }

    private void Rotate()
    {
        while (_writing > 0)
        {
            Opened.RotateDataKey(_key);
            threads.Yield();
        }
    }

    private static void Demand(bool isSo, string otherwise)
    {
        if (!isSo)
            throw new StorageException($"In the environment {otherwise}.");
    }

    /// <summary>Threads of the next process, which needs none.</summary>
    private sealed class InlineThreads : IScheduler
    {
        public void Queue(Action work) => throw new NotSupportedException("The next process has one thread.");

        public void Wait(object monitor) => throw new NotSupportedException("The next process has nobody to wait for.");
    }
}
