namespace Treepie.Architecture.Tests;

/// <summary>
/// Files, map, clock, randomness and other threads reach the storage engine through one seam, its room <c>Files</c>, so that a
/// simulated world can stand in for the real one. Read from the compiled code: whoever goes past the seam is named.
/// </summary>
public sealed class WorldSeamTests
{
    private const string Assembly = "Treepie.Storage";

    /// <summary>The seam, and the room below it that makes the system's calls.</summary>
    private static readonly string[] _seamRooms = ["Treepie.Storage.Files.", "Treepie.Storage.Memory."];

    /// <summary>Types of the world; of some only the members named.</summary>
    private static readonly Dictionary<string, string[]> _world = new(StringComparer.Ordinal)
    {
        ["System.IO.File"] = [],
        ["System.IO.Directory"] = [],
        ["System.IO.FileInfo"] = [],
        ["System.IO.DirectoryInfo"] = [],
        ["System.IO.FileStream"] = [],
        ["System.IO.RandomAccess"] = [],
        ["System.IO.MemoryMappedFiles.MemoryMappedFile"] = [],
        ["System.DateTime"] = ["get_Now", "get_UtcNow", "get_Today"],
        ["System.DateTimeOffset"] = ["get_Now", "get_UtcNow"],
        ["System.Diagnostics.Stopwatch"] = [],
        ["System.Environment"] = ["get_TickCount", "get_TickCount64"],
        ["System.TimeProvider"] = ["get_System"],
        ["System.Guid"] = ["NewGuid", "CreateVersion7"],
        ["System.Random"] = ["get_Shared", ".ctor"],
        ["System.Security.Cryptography.RandomNumberGenerator"] = [],
        ["System.Threading.Tasks.Task"] = ["Run", "Delay", "Wait", "WaitAll", "WaitAny"],
        ["System.Threading.Tasks.TaskFactory"] = [],
        ["System.Threading.Tasks.Parallel"] = [],
        ["System.Threading.Thread"] = [".ctor", "Sleep", "Start", "Join", "Yield"],
        ["System.Threading.ThreadPool"] = [],
        ["System.Threading.Timer"] = [],
        ["System.Threading.PeriodicTimer"] = [],
        ["System.Threading.Monitor"] = ["Wait"],
        ["System.Threading.SemaphoreSlim"] = [],
        ["System.Threading.ManualResetEventSlim"] = [],
        ["System.Threading.AutoResetEvent"] = [],
        ["System.Threading.ManualResetEvent"] = [],
    };

    /// <summary>Uses outside the seam that a simulated world need not replace, and why.</summary>
    private static readonly HashSet<(string Type, string Member)> _allowed =
    [
        // a key drawn for the user, before there is an environment
        ("Treepie.Storage.EncryptionKey", "System.Security.Cryptography.RandomNumberGenerator.Fill"),
        // a stream of its own, outside of every environment
        ("Treepie.Storage.Encryption.SealedWriteStream", "System.Security.Cryptography.RandomNumberGenerator.Fill"),
        // what a property says until the world's own clock is given
        ("Treepie.Storage.Transactions.EnvironmentState", "System.TimeProvider.get_System"),
        // a cache without files: the seed of its hash
        ("Treepie.Storage.Maps.MemoryMap`4", "System.Security.Cryptography.RandomNumberGenerator.GetBytes"),
    ];

    [Fact]
    public void Storage_reaches_the_world_only_through_its_seam()
    {
        string[] found = [.. TypeReferences.MembersOutside(Assembly)
            .Where(use => !_seamRooms.Any(room => use.From.StartsWith(room, StringComparison.Ordinal)))
            .Where(
                use => _world.TryGetValue(use.Type, out string[]? members)
                    && (members.Length == 0 || members.Contains(use.Member)))
            .Where(use => !_allowed.Contains((use.From, $"{use.Type}.{use.Member}")))
            .Select(use => $"{use.From} uses {use.Type}.{use.Member}: take it from World, so that a simulated one can stand in")
            .Distinct()
            .Order(StringComparer.Ordinal)];
        Assert.True(found.Length == 0, string.Join("\n", found));
    }

    [Fact]
    public void The_seam_itself_uses_the_world()
    {
        // Or the test above looks at the wrong thing.
        Assert.Contains(
            TypeReferences.MembersOutside(Assembly),
            use => use is { Type: "System.IO.RandomAccess", From: "Treepie.Storage.Files.DiskFile" });
        Assert.Contains(
            TypeReferences.MembersOutside(Assembly), use => use is { Type: "System.Threading.Monitor", Member: "Wait" });
    }
}
