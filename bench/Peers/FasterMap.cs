using FASTER.core;
using Treepie.Bench.Suites.Faster;

namespace Treepie.Bench.Peers;

/// <summary>
/// FASTER through its unsafe context (a session enters its epoch once for a thousand operations), its log in memory as a whole
/// and its index with room for all keys; durable: the log on a local device, and a fold-over checkpoint of the log after each
/// call, which is how it makes a thousand upserts durable.
/// </summary>
internal sealed class FasterMap : IMapUnderTest
{
    private readonly FasterKV<long, long> _store;
    private readonly FasterKVSettings<long, long> _settings;
    private readonly IDevice _device;
    private readonly bool _isDurable;

    public FasterMap(long keys, string? directory)
    {
        _isDurable = directory is not null;
        _device = directory is null
            ? new NullDevice()
            : Devices.CreateLogDevice(Path.Combine(directory, "log"), preallocateFile: false, deleteOnClose: false);
        const int recordBytes = 24, keysPerBucket = 2, bucketBytes = 64;
        // a fold-over checkpoint makes every later update a record of its own
        const int roomForUpdates = 4, roomForDurableUpdates = 64;
        long log =
            (long)System.Numerics.BitOperations.RoundUpToPowerOf2(
                (ulong)(keys * recordBytes * (_isDurable ? roomForDurableUpdates : roomForUpdates)));
        _settings = new FasterKVSettings<long, long>
        {
            LogDevice = _device,
            IndexSize = (long)System.Numerics.BitOperations.RoundUpToPowerOf2((ulong)(keys / keysPerBucket)) * bucketBytes,
            MemorySize = log,
            PageSize = Math.Min(log / 16, 32 << 20),
            CheckpointDir = directory,
            RemoveOutdatedCheckpoints = true,
        };
        _store = new FasterKV<long, long>(_settings);
    }

    public string Name => "FASTER 2.6.5";

    public IMapClient Open() => new Client(this);

    public void Dispose()
    {
        _store.Dispose();
        _device.Dispose();
        _settings.Dispose();
    }

    private sealed class Client(FasterMap owner) : IMapClient
    {
        private readonly ClientSession<long, long, long, long, Empty, SimpleFunctions<long, long>> _session =
            owner._store.For(new SimpleFunctions<long, long>()).NewSession<SimpleFunctions<long, long>>();

        public long Read(ReadOnlySpan<long> keys)
        {
            UnsafeContext<long, long, long, long, Empty, SimpleFunctions<long, long>> context = _session.UnsafeContext;
            context.BeginUnsafe();
            long sum = 0;
            foreach (long key in keys)
                sum += Read(context, key);
            context.EndUnsafe();
            return sum;
        }

        public void Upsert(ReadOnlySpan<long> keys)
        {
            UnsafeContext<long, long, long, long, Empty, SimpleFunctions<long, long>> context = _session.UnsafeContext;
            context.BeginUnsafe();
            foreach (long key in keys)
                Upsert(context, key);
            context.EndUnsafe();
            Commit();
        }

        public long Mix(ReadOnlySpan<long> keys)
        {
            UnsafeContext<long, long, long, long, Empty, SimpleFunctions<long, long>> context = _session.UnsafeContext;
            context.BeginUnsafe();
            long sum = 0;
            for (int i = 0; i < keys.Length; i++)
            {
                if ((i & 1) == 0)
                    sum += Read(context, keys[i]);
                else
                    Upsert(context, keys[i]);
            }

            context.EndUnsafe();
            Commit();
            return sum;
        }

        public void Dispose() => _session.Dispose();

        private static long Read(UnsafeContext<long, long, long, long, Empty, SimpleFunctions<long, long>> context, long key)
        {
            long value = 0;
            Status status = context.Read(ref key, ref value);
            if (status.IsPending)
                throw new InvalidOperationException("All of the log is in memory.");
            return status.Found ? value : 0;
        }

        private static void Upsert(UnsafeContext<long, long, long, long, Empty, SimpleFunctions<long, long>> context, long key)
        {
            long value = MapKeys.ValueOf(key);
            context.Upsert(ref key, ref value);
        }

        private void Commit()
        {
            if (!owner._isDurable)
                return;

            // Another thread's checkpoint may be under way; what this one wrote is then not yet in it.
            while (!owner._store.TakeHybridLogCheckpointAsync(CheckpointType.FoldOver).AsTask().GetAwaiter().GetResult().success)
                Thread.Yield();
        }
    }
}
