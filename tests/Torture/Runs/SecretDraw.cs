namespace Treepie.Torture.Runs;

/// <summary>
/// Source of keys in simulated worlds. Secrets are derived from a seed, so that a run is repeatable. Each opening for
/// writing needs its own seed, as each has different random numbers in the real world.
/// </summary>
internal sealed class SecretDraw(int seed)
{
    private const int Other = 0x5EC2E7;

    private readonly Random _random = new(seed ^ Other);

    /// <summary>Creates the source for one of the openings of a crash image.</summary>
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
