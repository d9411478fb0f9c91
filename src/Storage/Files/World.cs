using Treepie.Storage.Format;

namespace Treepie.Storage.Files;

/// <summary>Everything an environment takes from outside itself: the one seam, which a simulated world replaces.</summary>
/// <param name="Files">The directory.</param>
/// <param name="Clock">Time.</param>
/// <param name="Random">Numbers for ids and salts; used under a lock of its own.</param>
/// <param name="IsBackgroundAllowed">False: no work on other threads; checkpoints then run in line. For runs that a seed
/// repeats.</param>
internal sealed record World(IFileSystem Files, TimeProvider Clock, Random Random, bool IsBackgroundAllowed)
{
    /// <summary>Other threads.</summary>
    public IScheduler Scheduler { get; init; } = new ThreadPoolScheduler();

    /// <summary>Ages of readers.</summary>
    public CoarseClock Ages { get; init; } = new();

    /// <summary>
    /// Pages that one bitmap page covers, a multiple of 64. Tests make it small, so that a second bitmap page is common; the
    /// format has <see cref="FormatLimits.PagesPerBitmap"/>, and every opening of a directory must use the same number.
    /// </summary>
    public int PagesPerBitmap { get; init; } = FormatLimits.PagesPerBitmap;

    /// <summary>Where keys come from.</summary>
    public FillRandom Secrets { get; init; } = System.Security.Cryptography.RandomNumberGenerator.Fill;

    /// <summary>Who sees what is encrypted, or null.</summary>
    public SealObserver? Seals { get; init; }

    /// <summary>The real one.</summary>
    public static World OfDisk(string directory, bool allowMissingLocks = false) =>
        new(new DiskFileSystem(directory, allowMissingLocks), TimeProvider.System, new Random(), IsBackgroundAllowed: true);

    /// <summary>The real one, but for its files, which lie in memory, and without work on other threads.</summary>
    public static World OfMemory() => new(new MemoryFileSystem(), TimeProvider.System, new Random(), IsBackgroundAllowed: false);

    /// <summary>A random number.</summary>
    public ulong Draw()
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        lock (Random)
            Random.NextBytes(bytes);
        return BitConverter.ToUInt64(bytes);
    }

    /// <summary>A random id.</summary>
    public Guid DrawGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        lock (Random)
            Random.NextBytes(bytes);
        return new Guid(bytes);
    }
}
