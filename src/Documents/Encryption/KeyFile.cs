using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;
using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.Encryption;

/// <summary>
/// Files that contain a key. A file that other accounts may read or write is rejected, as determined by the mode of the opened
/// file on Unix. On Windows, access lists are not checked: store the file where only the account of the program can read it.
/// </summary>
public static class KeyFile
{
    private const UnixFileMode OfOthers =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>
    /// Creates a file with a key in base64, accessible to its owner only (mode 600); durable when the method returns. Does not
    /// modify an existing file.
    /// </summary>
    /// <exception cref="KeySourceException">The file exists or cannot be written.</exception>
    public static void Create(string path, EncryptionKey key)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        ArgumentNullException.ThrowIfNull(key);
        using var secret = new SecretBuffer(KeyText.MaxBytes);
        KeyText.Write(key, secret);
        try
        {
            DurableFile.RemoveAbandoned(path);
            using DurableFile file = DurableFile.Create(path, overwrite: false);
            file.Content.Write(secret.Span);
            file.Commit();
        }
        catch (IOException) when (File.Exists(path))
        {
            throw new KeySourceException(
                $"There is a file '{path}' already, which may hold the only copy of a key. It was left alone: choose another "
                    + $"name.");
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            throw new KeySourceException($"The key file '{path}' cannot be written: {error.Message}", error);
        }
        catch (StorageException error)
        {
            throw new KeySourceException(
                $"The key file '{path}' was written, but a power failure may lose it: {error.Message}", error);
        }
    }

    /// <summary>Reads a whole file, after checking its permissions.</summary>
    internal static void Read(string path, SecretBuffer secret)
    {
        try
        {
            using var file = new FileStream(
                path,
                new FileStreamOptions { Mode = FileMode.Open, Access = FileAccess.Read, Share = FileShare.Read, BufferSize = 0 });
            if (!OperatingSystem.IsWindows())
                RefuseIfOpenToOthers(path, file.SafeFileHandle);

            for (int count; !secret.Free.IsEmpty && (count = file.Read(secret.Free.Span)) > 0;)
                secret.Advance(count);
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException)
        {
            throw new KeySourceException(
                $"There is no key file '{path}'. Give the path of the file that holds the key; 'treepie key generate <file>' "
                    + $"makes a new one.",
                error);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            throw new KeySourceException($"The key file '{path}' cannot be read: {error.Message}", error);
        }

        if (secret.Free.IsEmpty)
            throw new KeySourceException(
                $"The key file '{path}' is too long to hold a key: {KeyText.MaxBytes:N0} bytes or more.");
    }

    [UnsupportedOSPlatform("windows")]
    private static void RefuseIfOpenToOthers(string path, SafeFileHandle file)
    {
        UnixFileMode mode = File.GetUnixFileMode(file);
        if ((mode & OfOthers) == 0)
            return;

        string octal = Convert.ToString((int)mode & 0b111_111_111, 8).PadLeft(3, '0');
        throw new KeySourceException(
            $"The key file '{path}' is open to other accounts of this machine (mode {octal}), so its key is no secret. Run: "
            + $"chmod 600 '{path.Replace("'", "'\\''", StringComparison.Ordinal)}'. "
            + "If others may have read it, change the key afterwards.");
    }
}
