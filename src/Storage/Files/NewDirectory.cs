namespace Treepie.Storage.Files;

/// <summary>
/// A directory created under a temporary name beside its final one, and renamed in one step when complete. A leftover of a
/// killed process is deleted and created anew.
/// </summary>
internal sealed class NewDirectory : IDisposable
{
    private const string Suffix = ".unfinished";

    private readonly string _target;
    private bool _isPublished;

    private NewDirectory(string target)
    {
        _target = target;
        Path = target + Suffix;
    }

    /// <summary>The temporary path.</summary>
    public string Path { get; }

    /// <summary>Creates the temporary directory.</summary>
    /// <exception cref="StorageException">The final name is in use, or the system refuses.</exception>
    public static NewDirectory Begin(string directory)
    {
        string target = System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(directory));
        Refuse(target);
        var made = new NewDirectory(target);
        try
        {
            if (Directory.Exists(made.Path))
                Directory.Delete(made.Path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, made.Path, "What an earlier attempt left cannot be deleted");
        }

        DurableDirectory.Create(made.Path);
        return made;
    }

    /// <summary>Renames the directory to its final name, durably.</summary>
    public void Publish()
    {
        Refuse(_target);
        try
        {
            if (Directory.Exists(_target))
                Directory.Delete(_target); // fails unless empty
            DurableDirectory.Move(Path, _target);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, _target, "The directory cannot be given its name");
        }

        _isPublished = true;
    }

    /// <summary>Deletes the directory unless it was published.</summary>
    public void Dispose()
    {
        if (_isPublished)
            return;

        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The next attempt deletes it.
        }
    }

    private static void Refuse(string target)
    {
        if (File.Exists(target) || (Directory.Exists(target) && Directory.EnumerateFileSystemEntries(target).Any()))
            throw new StorageException(
                $"'{target}' exists already and is not empty. Give the name of a directory that does not exist. Nothing was "
                    + $"changed.");
    }
}
