using Treepie.Storage;
using Treepie.Storage.Tests.Killing;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// Runs real threads on one environment: each writer has its own batches, readers verify whole snapshots, twice and with
/// spans held in between, and others write checkpoints, create and drop named snapshots and shrink the file. Budgets are so
/// small that publishing, freeing pages, reusing them and checkpoints race all the time.
/// </summary>
internal sealed class RealClients(StorageEnvironment environment, int seed)
{
    public const int Writers = NumberedBatches.Writers;

    private const int Readers = 2;

    private readonly long[] _acknowledged = new long[Writers];
    private Exception? _failure;
    private volatile bool _isOver;

    /// <summary>Options with minimal sizes.</summary>
    public static StorageOptions Options { get; } = new()
    {
        ScratchBudgetBytes = 1 << 20,
        MemoryBudgetBytes = 1 << 20, // pages held by readers beyond that go to a file
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        MaxJournalBytes = 256 << 10,
        MaxDataFileBytes = 1 << 30,
        FirstReserveBytes = 1 << 20,
        DecryptedBudgetBytes = 1 << 20,
        DecryptedIdleTime = TimeSpan.Zero,
    };

    /// <summary>Number of the current user key of an encrypted environment, see <see cref="UserKeys"/>.</summary>
    public int Key { get; set; }

    /// <summary>
    /// Whether the user key may change. Not if the process may be killed, because the next one would not know the key.
    /// </summary>
    public bool ChangesKeys { get; init; }

    /// <summary>Called for each acknowledged batch, on the thread of its writer.</summary>
    public Action<int, long>? Acknowledging { get; init; }

    /// <summary>Number of acknowledged batches.</summary>
    public long Batches => Enumerable.Range(0, Writers).Sum(writer => Volatile.Read(ref _acknowledged[writer]));

    /// <summary>Runs until this many batches are written. Throws on failure.</summary>
    public void Run(long batches)
    {
        for (int writer = 0; writer < Writers; writer++)
        {
            using ReadTransaction read = environment.BeginRead();
            _acknowledged[writer] = NumberedBatches.Last(read.FindTree(NumberedBatches.TreeName(writer)));
        }

        long end = batches == long.MaxValue ? batches : Batches + batches;
        Action<Random>[] all =
        [
            .. Enumerable.Range(0, Writers).Select(writer => (Action<Random>)(random => Write(random, writer, end))),
            .. Enumerable.Repeat<Action<Random>>(Read, Readers),
            KeepHouse,
        ];
        Thread[] threads = [
            .. all.Select(
                (work, number) => new Thread(() => Guard(work, new Random(unchecked((seed * 31) + number))))
                {
                    IsBackground = true
                })];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        if (_failure is { } failure)
            throw new TortureFailure(failure.Message, failure.ToString().Split('\n'), failure);
    }

    /// <summary>Throws unless every writer's batches are complete and include those acknowledged before.</summary>
    public static void Verify(ReadTransaction read, ReadOnlySpan<long> acknowledged)
    {
        for (int writer = 0; writer < Writers; writer++)
            NumberedBatches.AssertWhole(read, writer, acknowledged[writer]);
    }

    private void Guard(Action<Random> work, Random random)
    {
        try
        {
            work(random);
        }
        catch (Exception error)
        {
            Interlocked.CompareExchange(ref _failure, error, null);
            _isOver = true;
        }
    }

    /// <summary>Writes in alternating ways: synchronously, asynchronously, and again after an aborted command.</summary>
    private void Write(Random random, int writer, long end)
    {
        while (!_isOver)
        {
            long batch = random.Next(8) switch
            {
                0 => environment.WriteAsync(transaction => NumberedBatches.WriteNext(transaction, writer))
                    .AsTask()
                    .GetAwaiter()
                    .GetResult(),
                1 => WriteTwice(writer),
                _ => environment.Write(transaction => NumberedBatches.WriteNext(transaction, writer)),
            };
            Volatile.Write(ref _acknowledged[writer], batch);
            Acknowledging?.Invoke(writer, batch);
            if (Batches >= end)
                _isOver = true;
        }
    }

    /// <summary>Runs a command that aborts, and then the same one again.</summary>
    private long WriteTwice(int writer)
    {
        try
        {
            environment.Write<long>(transaction =>
            {
                NumberedBatches.WriteNext(transaction, writer);
                throw new FormatException("on purpose");
            });
        }
        catch (FormatException)
        {
            // If anything of the aborted command were kept, the next one would have another number.
        }

        return environment.Write(transaction => NumberedBatches.WriteNext(transaction, writer));
    }

    private void Read(Random random)
    {
        var acknowledged = new long[Writers];
        while (!_isOver)
        {
            for (int writer = 0; writer < Writers; writer++)
                acknowledged[writer] = Volatile.Read(ref _acknowledged[writer]);
            using ReadTransaction read = environment.BeginRead();
            Verify(read, acknowledged);
            Tree? tree = read.FindTree(NumberedBatches.TreeName(random.Next(Writers)));
            using Cursor? cursor = tree?.OpenCursor();
            ReadOnlySpan<byte> span = cursor is not null && cursor.MoveLast() ? cursor.Value : default;
            byte[] before = span.ToArray();
            long from = Batches;
            for (int i = 0; i < random.Next(4000) && !_isOver && Batches < from + 20; i++)
                Thread.Yield();
            environment.Sweeper?.Sweep();
            if (!span.SequenceEqual(before))
                throw new InvalidOperationException("The bytes of a value changed while its transaction was open.");
            read.ReleasePages();
            Verify(read, acknowledged);
        }
    }

    /// <summary>Rotates the data key. Half of the rotations are canceled after a moment and continued by another one.</summary>
    private void Rotate(Random random)
    {
        using var cancellation = new CancellationTokenSource();
        var progress = new Until(() => random.Next(20) == 0 || _isOver, cancellation);
        try
        {
            environment.RotateDataKey(UserKeys.Of(Key), random.Next(2) == 0 ? progress : null, cancellation.Token);
        }
        catch (OperationCanceledException)
        {
        }
    }

    private void KeepHouse(Random random)
    {
        const string Name = "kept";
        var acknowledged = new long[Writers];
        while (!_isOver)
        {
            switch (random.Next(environment.IsEncrypted ? 20 : 12))
            {
                case 12:
                    Rotate(random);
                    break;
                case 13 when ChangesKeys:
                    environment.ChangeKey(UserKeys.Of(Key + 1));
                    Key++;
                    break;
                case > 13:
                    environment.Sweeper!.Sweep(); // not null, because the environment is encrypted
                    break;
                case 0:
                    environment.Shrink();
                    break;
                case 1:
                    environment.DropSnapshot(Name);
                    for (int writer = 0; writer < Writers; writer++)
                        acknowledged[writer] = Volatile.Read(ref _acknowledged[writer]);
                    environment.CreateSnapshot(Name);
                    break;
                case 2 when environment.ListSnapshots().Count > 0:
                    using (ReadTransaction read = environment.OpenSnapshot(Name))
                        Verify(read, acknowledged);
                    break;
                case 3:
                    if (environment.Check() is { IsClean: false } report)
                        throw new InvalidOperationException($"The check complains: {report.Problems[0]}");
                    break;
                default:
                    environment.Checkpoint();
                    break;
            }

            long from = Batches;
            while (Batches < from + 5 && !_isOver)
                Thread.Yield();
        }
    }

    private sealed class Until(Func<bool> isOver, CancellationTokenSource cancellation) : IProgress<KeyRotationProgress>
    {
        public void Report(KeyRotationProgress value)
        {
            if (isOver())
                cancellation.Cancel();
        }
    }
}
