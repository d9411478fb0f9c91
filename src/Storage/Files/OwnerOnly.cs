namespace Treepie.Storage.Files;

/// <summary>
/// Creates files and directories that other accounts of the machine cannot read, whatever the umask of the process is.
/// </summary>
internal static class OwnerOnly
{
    private const UnixFileMode FileMode600 = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode DirectoryMode700 = FileMode600 | UnixFileMode.UserExecute;

    /// <summary>Opens or creates a file for writing. A file created has mode 600 from the start.</summary>
    public static FileStream OpenFile(
        string path, FileMode mode, FileAccess access, FileShare share, FileOptions options = FileOptions.None)
    {
        var settings = new FileStreamOptions { Mode = mode, Access = access, Share = share, Options = options, BufferSize = 0 };
        if (!OperatingSystem.IsWindows())
            settings.UnixCreateMode = FileMode600;
        return new FileStream(path, settings);
    }

    /// <summary>Creates a directory and its missing parents with mode 700.</summary>
    public static void CreateDirectory(string path)
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(path);
            return;
        }

        // One by one: .NET applies the mode only to the last one.
        var absent = new Stack<string>();
        for (string? at = path; at is { Length: > 0 } && !Directory.Exists(at); at = Path.GetDirectoryName(at))
            absent.Push(at);
        while (absent.TryPop(out string? directory))
            Directory.CreateDirectory(directory, DirectoryMode700);
    }

    /// <summary>
    /// Removes the permissions of other accounts from an existing directory. A directory of another owner is not changed.
    /// </summary>
    public static void Close(string directory)
    {
        if (OperatingSystem.IsWindows())
            return;

        try
        {
            UnixFileMode mode = File.GetUnixFileMode(directory);
            if ((mode & ~DirectoryMode700) != 0)
                File.SetUnixFileMode(directory, mode & DirectoryMode700);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // Its owner decides who can read it.
        }
    }
}
