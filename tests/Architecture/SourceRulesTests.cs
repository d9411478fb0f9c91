using System.Text.RegularExpressions;
using Treepie.Tests.Support;

namespace Treepie.Architecture.Tests;

/// <summary>House rules that a look at the text can prove. Each message says what to do.</summary>
public sealed partial class SourceRulesTests
{
    private const int MaxFileLines = 600;
    private const int MaxColumns = 130;
    private const string Quotes = "\"\"\"";

    /// <summary>The places that may hold raw pointers, platform calls and vector intrinsics.</summary>
    private static readonly string[] _unsafePlaces =
    [
        "src/Storage/Memory/", "src/Storage/Kernels/", "src/Indexing/Kernels/", "src/Documents/Kernels/",
        "src/Documents/Compression/", "src/Server/Hosting/ServerProgram.cs"
    ];

    private static readonly string[] _worldPlaces =
    [
        "src/Storage/Files/", "src/Storage/Memory/", // the seam
        "src/Storage/EncryptionKey.cs", "src/Storage/Encryption/SealedWriteStream.cs", // secrets
        "src/Storage/Maps/MemoryMap.cs", // a seed, where none is given
        "src/Documents/Store/DatabaseFormat.cs", "src/Documents/Indexes/Directories/IndexDirectory.cs",
        "src/Documents/Catalogs/", "src/Documents/TemporaryPlace.cs", // directories of databases
        "src/Documents/Backups/", "src/Documents/BackupTasks/BackupTaskStore.cs", "src/Documents/Destinations/FolderDestination.cs",
        "src/Documents/Encryption/KeyFile.cs",
        "src/Documents/Writes/WriteBatch.cs", // ids drawn for documents
        "src/Documents/Indexes/States/KeyedHash.cs", // a key, where none is given
    ];

    [Fact]
    public void A_file_has_one_job()
    {
        IEnumerable<string> long_ = Sources("src", "tests", "bench")
            .Select(file => (file, lines: File.ReadLines(file).Count()))
            .Where(entry => entry.lines > MaxFileLines)
            .Select(entry => $"{Relative(entry.file)}: {entry.lines} lines; split it by job, {MaxFileLines} is the most");
        AssertNone(long_);
    }

    [Fact]
    public void A_line_ends_where_a_reader_still_sees_it()
    {
        IEnumerable<string> found = Sources("src")
            .SelectMany(file => LinesToBreak(file).Select(
                line => $"{Relative(file)}:{line}: break it; {MaxColumns} columns are the most"));
        AssertNone(found);
    }

    [Fact]
    public void Raw_memory_and_platform_calls_stay_in_their_rooms()
    {
        IEnumerable<string> found = Sources("src")
            .Where(file => !_unsafePlaces.Any(place => Relative(file).StartsWith(place, StringComparison.Ordinal)))
            .Where(file => UnsafeCode().IsMatch(File.ReadAllText(file)))
            .Select(file => $"{Relative(file)}: move the unsafe part to one of {string.Join(", ", _unsafePlaces)}");
        AssertNone(found);
    }

    /// <summary>
    /// In Storage and Indexing the seam is <c>World</c>, for which a simulated one can stand in. What lies above them touches files
    /// where databases, backups and keys are kept, and nowhere else.
    /// </summary>
    [Fact]
    public void The_core_touches_the_world_only_in_named_places()
    {
        IEnumerable<string> found = Sources("src/Storage", "src/Indexing", "src/Documents", "src/Computing")
            .Where(file => !_worldPlaces.Any(place => Relative(file).StartsWith(place, StringComparison.Ordinal)))
            .Where(file => WorldCalls().IsMatch(File.ReadAllText(file)))
            .Select(file => $"{Relative(file)}: take files, time and randomness by parameter, so that a simulated world can stand in");
        AssertNone(found);
    }

    /// <summary>
    /// A file that is synced and renamed, but whose directory is not synced, may lose its name in a power failure.
    /// </summary>
    [Fact]
    public void Files_and_names_are_made_durable_in_one_place()
    {
        IEnumerable<string> found = Sources("src")
            .Where(file => !Relative(file).StartsWith("src/Storage/Files/", StringComparison.Ordinal))
            .Where(file => DurableCalls().IsMatch(File.ReadAllText(file)))
            .Select(file => $"{Relative(file)}: use DurableFile for files, PrivateFiles.MoveDirectory for directories");
        AssertNone(found);
    }

    [Fact]
    public void Nothing_is_left_for_later_in_the_code()
    {
        IEnumerable<string> found = Sources("src", "tests", "bench")
            .Where(file => Path.GetFileName(file) != "SourceRulesTests.cs")
            .Where(file => LeftForLater().IsMatch(File.ReadAllText(file)))
            .Select(file => $"{Relative(file)}: do it, or open an issue");
        AssertNone(found);
    }

    /// <summary>
    /// Lines that are too long, but for texts in three quotes, drawings and tables in a comment, and references to a member.
    /// </summary>
    private static IEnumerable<int> LinesToBreak(string file)
    {
        bool isText = false, isTable = false;
        foreach ((int at, string line) in File.ReadLines(file).Index())
        {
            bool hasQuotes = line.Contains(Quotes, StringComparison.Ordinal);
            isTable |= line.Contains("<code>", StringComparison.Ordinal);
            if (line.Length > MaxColumns
                && !isText
                && !isTable
                && !hasQuotes
                && !line.Contains("cref=", StringComparison.Ordinal))
                yield return at + 1;
            isTable &= !line.Contains("</code>", StringComparison.Ordinal);
            isText ^= line.Split(Quotes).Length % 2 == 0;
        }
    }

    private static void AssertNone(IEnumerable<string> found)
    {
        string[] all = [.. found];
        Assert.True(all.Length == 0, string.Join("\n", all));
    }

    private static IEnumerable<string> Sources(params string[] folders) => folders
        .SelectMany(
            folder => Directory.EnumerateFiles(
                Path.Combine(DataSets.RepositoryRoot, folder), "*.cs", SearchOption.AllDirectories))
        .Where(file => !Relative(file).Split('/').Any(part => part is "obj" or "bin" or "node_modules"));

    private static string Relative(string file) => Path.GetRelativePath(DataSets.RepositoryRoot, file).Replace('\\', '/');

    [GeneratedRegex(@"\bunsafe\b|\bUnsafe\.|\bDllImport\b|\bLibraryImport\b|\bRuntime\.Intrinsics\b")]
    private static partial Regex UnsafeCode();

    [GeneratedRegex(
        @"(?<!\.)\b(File|Directory|RandomAccess|FileStream|MemoryMappedFile)\.[A-Z]|\bnew (FileStream|FileInfo|DirectoryInfo|Random)\b|"
            + @"\b(Stopwatch|RandomNumberGenerator)\b|\bThread\.Sleep\b|\bGuid\.NewGuid\b")]
    private static partial Regex WorldCalls();

    [GeneratedRegex(@"\bflushToDisk\b|\bFile\.(Move|Replace)\b|\bDirectory\.Move\b")]
    private static partial Regex DurableCalls();

    [GeneratedRegex(@"\b(TODO|FIXME|HACK|NotImplementedException)\b")]
    private static partial Regex LeftForLater();
}
