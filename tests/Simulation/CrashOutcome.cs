namespace Treepie.Storage.Simulation;

/// <summary>
/// One outcome of a power loss: for each dimension the option that occurred, or a negative number for a damaged sector.
/// </summary>
internal sealed class CrashOutcome(PowerLoss loss, int[] picks)
{
    public PowerLoss Loss => loss;

    public IReadOnlyList<int> Picks => picks;

    /// <summary>Draws a pick that means damage.</summary>
    public static int Damage(Random random) => -1 - random.Next(int.MaxValue - 1);

    /// <summary>The disk after this outcome.</summary>
    public DiskImage Build() => loss.Build(picks);

    /// <summary>Returns a copy with a different pick for one dimension.</summary>
    public CrashOutcome With(int dimension, int pick)
    {
        int[] other = [.. picks];
        other[dimension] = pick;
        return new CrashOutcome(loss, other);
    }

    /// <summary>Describes what happened to everything that was not durable.</summary>
    public IEnumerable<string> Describe() => loss.Describe(picks);

    /// <summary>
    /// A sector that was damaged while being written: torn (the bytes of a write up to some point, then the previous ones),
    /// or garbage in whole or in part. A sector rewritten unchanged can only be garbage.
    /// </summary>
    /// <param name="pick">Determines the damage.</param>
    /// <param name="versions">The durable content, and the intended content after each write.</param>
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
