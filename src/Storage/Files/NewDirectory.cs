namespace Treepie.Storage.Files;

/// <summary>
/// A directory that is made under another name, beside the one it is to have, and takes that in one step when all is in it. One
/// that was left by a killed process is deleted and made anew.
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

    /// <summary>Where it is for now.</summary>
    public string Path { get; }

    /// <summary>Begins one.</summary>
    /// <exception cref="StorageException">Something has that name, or the system refuses.</exception>
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

    /// <summary>Gives it its name, durably.</summary>
    public void Publish()
    {
        Refuse(_target);
        try
        {
            if (Directory.Exists(_target))
                Directory.Delete(_target); // empty, or this fails
            Directory.Move(Path, _target);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, _target, "The directory cannot be given its name");
        }

        _isPublished = true;
        if (System.IO.Path.GetDirectoryName(_target) is { Length: > 0 } parent)
            DurableDirectory.Sync(parent);
    }

    /// <summary>Deletes it unless it has its name.</summary>
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
            // the next attempt deletes it
        }
    }

    private static void Refuse(string target)
    {
        if (File.Exists(target) || (Directory.Exists(target) && Directory.EnumerateFileSystemEntries(target).Any()))
            throw new StorageException(
                $"'{target}' is there already, and not empty. Give the name of a directory that is not there. Nothing was "
                    + $"changed.");
    }
}
