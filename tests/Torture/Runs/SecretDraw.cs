namespace Treepie.Torture.Runs;

/// <summary>
/// Where the keys of simulated worlds come from: what nobody can guess is drawn from a seed here, so that a run repeats. Each
/// opening that may write needs a seed of its own, as each has random numbers of its own in the real world.
/// </summary>
internal sealed class SecretDraw(int seed)
{
    private const int Other = 0x5EC2E7;

    private readonly Random _random = new(seed ^ Other);

    /// <summary>For one of the openings of what a crash left.</summary>
    public static SecretDraw Of(int seed, ulong image, int opening)
    {
        ulong mixed = unchecked((image ^ ((ulong)(uint)seed << 32) ^ (uint)opening) * 0x9E3779B97F4A7C15);
        return new SecretDraw((int)(mixed >> 33));
    }

    public void Fill(Span<byte> bytes)
    {
        lock (_random)
            _random.NextBytes(bytes);
    }
}
