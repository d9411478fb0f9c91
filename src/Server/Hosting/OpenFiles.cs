using System.Globalization;

namespace Treepie.Server.Hosting;

/// <summary>The number of files, including connections, that this process may have open.</summary>
internal static class OpenFiles
{
    /// <summary>The limit assumed if the system does not report one.</summary>
    public const long Unknown = 4_096;

    private const string LimitsOfThisProcess = "/proc/self/limits";
    private const string FilesOfThisProcess = "/proc/self/fd";

    /// <summary>Returns the limit of this process.</summary>
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

    /// <summary>Returns the number of open files of this process; 0 if the system does not report it.</summary>
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

    /// <summary>Parses the soft limit from the table in Linux: a line <c>Max open files  soft  hard  files</c>.</summary>
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
