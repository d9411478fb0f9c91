using System.Text;

namespace Treepie.Tests.Support;

/// <summary>Searches files byte by byte for texts, in UTF-8 or UTF-16, that must occur nowhere or everywhere.</summary>
public static class Markers
{
    /// <summary>The markers that occur in the content or name of any file of a directory.</summary>
    public static IReadOnlyList<string> FoundIn(string directory, IEnumerable<string> markers)
    {
        string[] files = Directory.GetFiles(directory, "*", SearchOption.AllDirectories);
        byte[][] contents =
        [
            .. files.Select(ReadShared),
            Encoding.UTF8.GetBytes(string.Join('\n', files.Select(file => Path.GetRelativePath(directory, file))))
        ];
        return [.. markers.Where(marker => contents.Any(content => Holds(content, marker)))];
    }

    private static bool Holds(ReadOnlySpan<byte> content, string marker) =>
        content.IndexOf(Encoding.UTF8.GetBytes(marker)) >= 0 || content.IndexOf(Encoding.Unicode.GetBytes(marker)) >= 0;

    /// <summary>Reads a file of a database that may be open. All its files can be shared except the lock.</summary>
    private static byte[] ReadShared(string path)
    {
        try
        {
            using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            byte[] content = new byte[file.Length];
            file.ReadExactly(content);
            return content;
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException)
        {
            return []; // of an index that was deleted meanwhile
        }
        catch (IOException) when (Path.GetFileName(path).Contains("lock", StringComparison.Ordinal))
        {
            return [];
        }
    }
}
