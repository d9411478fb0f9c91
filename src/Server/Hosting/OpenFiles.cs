using System.Globalization;

namespace Treepie.Server.Hosting;

/// <summary>How many files, connections among them, this process may have open at a time.</summary>
internal static class OpenFiles
{
    /// <summary>What is taken for granted where the system does not tell.</summary>
    public const long Unknown = 4_096;

    private const string LimitsOfThisProcess = "/proc/self/limits";
    private const string FilesOfThisProcess = "/proc/self/fd";

    /// <summary>The limit of this process.</summary>
    public static long Limit()
    {
        try
        {
            return File.Exists(LimitsOfThisProcess) ? Parse(File.ReadAllText(LimitsOfThisProcess)) : Unknown;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return Unknown;
        }
    }

    /// <summary>How many this process has open; 0 where the system does not tell.</summary>
    public static int Count()
    {
        try
        {
            return Directory.Exists(FilesOfThisProcess) ? Directory.EnumerateFileSystemEntries(FilesOfThisProcess).Count() : 0;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return 0;
        }
    }

    /// <summary>The limit in force, of the table that Linux shows: a line <c>Max open files  soft  hard  files</c>.</summary>
    public static long Parse(string table)
    {
        const string Name = "Max open files";
        string? line = table.Split('\n').FirstOrDefault(static line => line.StartsWith(Name, StringComparison.Ordinal));
        string[] columns = line?[Name.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries) ?? [];
        return columns switch
        {
            ["unlimited", ..] => long.MaxValue,
            [{ } soft, ..] when long.TryParse(soft, NumberStyles.None, CultureInfo.InvariantCulture, out long files) => files,
            _ => Unknown,
        };
    }
}
