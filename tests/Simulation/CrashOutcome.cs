namespace Treepie.Storage.Simulation;

/// <summary>
/// One of the things a loss of power can leave: for each dimension the option that came true, or a number below 0 for a damaged
/// sector.
/// </summary>
internal sealed class CrashOutcome(PowerLoss loss, int[] picks)
{
    public PowerLoss Loss => loss;

    public IReadOnlyList<int> Picks => picks;

    /// <summary>A pick that means damage.</summary>
    public static int Damage(Random random) => -1 - random.Next(int.MaxValue - 1);

    /// <summary>The disk as it is found.</summary>
    public DiskImage Build() => loss.Build(picks);

    /// <summary>The same but for one dimension.</summary>
    public CrashOutcome With(int dimension, int pick)
    {
        int[] other = [.. picks];
        other[dimension] = pick;
        return new CrashOutcome(loss, other);
    }

    /// <summary>What happened to what was not durable, in words.</summary>
    public IEnumerable<string> Describe() => loss.Describe(picks);

    /// <summary>
    /// A sector that was hit while being written: torn (the bytes of a write up to somewhere, then those before), or garbage,
    /// whole or in a part. One that was written as it was can only be garbage.
    /// </summary>
    /// <param name="pick">Which damage.</param>
    /// <param name="versions">What was durable, and what the sector was to be after each write.</param>
    internal static byte[] Damaged(int pick, IReadOnlyList<byte[]> versions)
    {
        var random = new Random(pick);
        if (versions.Count == 1 || pick % 4 == 0)
        {
            byte[] garbage = [.. versions[^1]];
            int start = random.Next(2) == 0 ? 0 : random.Next(garbage.Length);
            int end = random.Next(2) == 0 ? garbage.Length : random.Next(start, garbage.Length) + 1;
            random.NextBytes(garbage.AsSpan(start, end - start));
            return garbage;
        }

        int write = random.Next(1, versions.Count);
        byte[] bytes = [.. versions[random.Next(write)]], meant = versions[write];
        meant.AsSpan(0, random.Next(1, pick % 4 == -1 ? meant.Length : meant.Length / 2)).CopyTo(bytes);
        return bytes;
    }
}
