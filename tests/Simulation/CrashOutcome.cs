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
    /// A sector that was hit while being written: torn (the new bytes up to somewhere, then the old), or garbage.
    /// </summary>
    internal static byte[] Damaged(int pick, byte[] before, byte[] meant)
    {
        var random = new Random(pick);
        byte[] bytes = [.. before];
        if (pick % 4 == 0)
            random.NextBytes(bytes);
        else
            meant.AsSpan(0, random.Next(1, pick % 4 == -1 ? meant.Length : meant.Length / 2)).CopyTo(bytes);
        return bytes;
    }
}
