namespace Treepie.Torture.Runs;

/// <summary>What was done so far, by all threads.</summary>
internal sealed class Tally
{
    private const int Shards = 64;

    private readonly HashSet<ulong>[] _images = [.. Enumerable.Range(0, Shards).Select(_ => new HashSet<ulong>())];
    private readonly HashSet<ulong>[] _cases = [.. Enumerable.Range(0, Shards).Select(_ => new HashSet<ulong>())];
    private long _states;
    private long _distinct;
    private long _recoveries;
    private long _barriers;
    private long _encryptedRecoveries;
    private long _seals;

    /// <summary>Crash states drawn or enumerated.</summary>
    public long States => Interlocked.Read(ref _states);

    /// <summary>Of these, different ones by the content of the disk.</summary>
    public long Distinct => Interlocked.Read(ref _distinct);

    /// <summary>Environments opened on a crash state and held against what they must be.</summary>
    public long Recoveries => Interlocked.Read(ref _recoveries);

    /// <summary>Moments at which crash states were taken.</summary>
    public long Barriers => Interlocked.Read(ref _barriers);

    public void AddBarrier() => Interlocked.Increment(ref _barriers);

    /// <summary>Of the recoveries, those of encrypted environments.</summary>
    public long EncryptedRecoveries => Interlocked.Read(ref _encryptedRecoveries);

    /// <summary>What was encrypted, each with a nonce that no other had under its key.</summary>
    public long Seals => Interlocked.Read(ref _seals);

    public void AddSeals(long seals) => Interlocked.Add(ref _seals, seals);

    public void AddRecovery(bool isEncrypted = false)
    {
        Interlocked.Increment(ref _recoveries);
        if (isEncrypted)
            Interlocked.Increment(ref _encryptedRecoveries);
    }

    /// <summary>Counts a crash state; false where this very case, image and what is expected of it, was proven before.</summary>
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
