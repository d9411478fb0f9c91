using Treepie.Storage.Format;

namespace Treepie.Storage.Files;

/// <summary>Everything an environment takes from outside: the only such interface, which a simulation replaces.</summary>
/// <param name="Files">The directory.</param>
/// <param name="Clock">The clock.</param>
/// <param name="Random">Random numbers for ids and salts. Used under its own lock.</param>
/// <param name="IsBackgroundAllowed">If false, no work runs on other threads, and checkpoints run inline. For reproducible
/// runs.</param>
internal sealed record World(IFileSystem Files, TimeProvider Clock, Random Random, bool IsBackgroundAllowed)
{
    /// <summary>The scheduler of background work.</summary>
    public IScheduler Scheduler { get; init; } = new ThreadPoolScheduler();

    /// <summary>The clock for the ages of readers.</summary>
    public CoarseClock Ages { get; init; } = new();

    /// <summary>
    /// The number of pages covered by one bitmap page, a multiple of 64. Tests make it small so that a second bitmap page is
    /// common. The format has <see cref="FormatLimits.PagesPerBitmap"/>, and every opening of a directory must use the same
    /// number.
    /// </summary>
    public int PagesPerBitmap { get; init; } = FormatLimits.PagesPerBitmap;

    /// <summary>The source of random keys.</summary>
    public FillRandom Secrets { get; init; } = System.Security.Cryptography.RandomNumberGenerator.Fill;

    /// <summary>Observes everything that is encrypted, or null.</summary>
    public SealObserver? Seals { get; init; }

    /// <summary>Returns the real world.</summary>
    public static World OfDisk(string directory, bool allowMissingLocks = false) =>
        new(new DiskFileSystem(directory, allowMissingLocks), TimeProvider.System, new Random(), IsBackgroundAllowed: true);

    /// <summary>Returns the real world, but with files in memory and without work on other threads.</summary>
    public static World OfMemory() => new(new MemoryFileSystem(), TimeProvider.System, new Random(), IsBackgroundAllowed: false);

    /// <summary>Returns a random number.</summary>
    public ulong Draw()
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        lock (Random)
            Random.NextBytes(bytes);
        return BitConverter.ToUInt64(bytes);
    }

    /// <summary>Returns a random id.</summary>
    public Guid DrawGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        lock (Random)
            Random.NextBytes(bytes);
        return new Guid(bytes);
    }
}
