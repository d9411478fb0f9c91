using System.Collections.Concurrent;

namespace Treepie.Torture.Runs;

/// <summary>Counts the work done so far by all threads.</summary>
internal sealed class Tally
{
    private const int Shards = 64;

    private readonly HashSet<ulong>[] _images = [.. Enumerable.Range(0, Shards).Select(_ => new HashSet<ulong>())];
    private readonly HashSet<ulong>[] _cases = [.. Enumerable.Range(0, Shards).Select(_ => new HashSet<ulong>())];
    private readonly ConcurrentDictionary<string, bool> _skipped = new(StringComparer.Ordinal);
    private long _states;
    private long _distinct;
    private long _recoveries;
    private long _barriers;
    private long _encryptedRecoveries;
    private long _seals;

    /// <summary>Number of crash states drawn or enumerated.</summary>
    public long States => Interlocked.Read(ref _states);

    /// <summary>Number of distinct crash states by content of the disk.</summary>
    public long Distinct => Interlocked.Read(ref _distinct);

    /// <summary>Number of environments opened on a crash state and verified.</summary>
    public long Recoveries => Interlocked.Read(ref _recoveries);

    /// <summary>Number of moments at which crash states were explored.</summary>
    public long Barriers => Interlocked.Read(ref _barriers);

    public void AddBarrier() => Interlocked.Increment(ref _barriers);

    /// <summary>Number of recoveries of encrypted environments.</summary>
    public long EncryptedRecoveries => Interlocked.Read(ref _encryptedRecoveries);

    /// <summary>Number of seals, each with a nonce unique under its key.</summary>
    public long Seals => Interlocked.Read(ref _seals);

    public void AddSeals(long seals) => Interlocked.Add(ref _seals, seals);

    /// <summary>What this machine cannot run, each said once.</summary>
    public IReadOnlyCollection<string> Skipped => [.. _skipped.Keys];

    public void AddSkipped(string what) => _skipped.TryAdd(what, true);

    public void AddRecovery(bool isEncrypted = false)
    {
        Interlocked.Increment(ref _recoveries);
        if (isEncrypted)
            Interlocked.Increment(ref _encryptedRecoveries);
    }

    /// <summary>Counts a crash state. Returns false if this image was already verified with the same expectation.</summary>
    public bool TryAdd(ulong image, ulong expectation)
    {
        Interlocked.Increment(ref _states);
        if (Add(_images, image))
            Interlocked.Increment(ref _distinct);
        return Add(_cases, unchecked((image * 0x9E3779B97F4A7C15) ^ expectation));
    }

    private static bool Add(HashSet<ulong>[] shards, ulong value)
    {
        HashSet<ulong> shard = shards[(value >> 32) % Shards];
        lock (shard)
            return shard.Add(value);
    }
}
