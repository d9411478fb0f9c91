using System.Diagnostics.CodeAnalysis;
using System.Runtime.Versioning;
using System.Text;

namespace Treepie.Server.Security;

/// <summary>
/// The source of a password: <c>file:PATH</c> or <c>env:NAME</c>. The password itself cannot be given on the command line,
/// which every account of the machine can read.
/// </summary>
internal sealed record SecretPlace
{
    private const string FilePrefix = "file:", VariablePrefix = "env:";

    private const UnixFileMode OfOthers = UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    private SecretPlace(string? path, string? variable) => (Path, Variable) = (path, variable);

    private string? Path { get; }

    private string? Variable { get; }

    /// <summary>Parses a source; returns false if it is not valid.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out SecretPlace? place)
    {
        place = text switch
        {
            _ when text.StartsWith(FilePrefix, StringComparison.Ordinal) && text.Length > FilePrefix.Length =>
                new SecretPlace(text[FilePrefix.Length..], null),
            _ when text.StartsWith(VariablePrefix, StringComparison.Ordinal) && text.Length > VariablePrefix.Length =>
                new SecretPlace(null, text[VariablePrefix.Length..]),
            _ => null,
        };
        return place is not null;
    }

    /// <summary>
    /// Rejects a file with a secret that every account of the machine may read or write. Group access is allowed, since keys
    /// are often shared with a server through a group.
    /// </summary>
    /// <exception cref="CertificateException">The file is accessible to all accounts.</exception>
    public static void RefuseIfOpenToAll(string path)
    {
        if (!OperatingSystem.IsWindows() && IsOpenToAll(path))
        {
            throw new CertificateException(
                $"The file '{path}' holds a private key or a password, and every account of this machine may read or write "
                    + $"it. Run: chmod o-rw '{path}'. If others may have read it, take a new one.");
        }
    }

    /// <summary>Reads the password, without a trailing line break.</summary>
    /// <exception cref="CertificateException">There is no password.</exception>
    public string Read()
    {
        if (Path is null)
        {
            return Environment.GetEnvironmentVariable(Variable ?? "") is { Length: > 0 } value
                ? value
                : throw new CertificateException(
                $"The environment variable '{Variable}' is to hold the password of the certificate and is not set.");
        }

        try
        {
            RefuseIfOpenToAll(Path);
            return File.ReadAllText(Path, Encoding.UTF8).TrimEnd('\r', '\n');
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new CertificateException(
                $"The file '{Path}' with the password of the certificate cannot be read: {exception.Message}", exception);
        }
    }

    /// <inheritdoc/>
    public override string ToString() => Path is null ? VariablePrefix + Variable : FilePrefix + Path;

    [UnsupportedOSPlatform("windows")]
    private static bool IsOpenToAll(string path) =>
        (File.GetUnixFileMode(System.IO.File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path) & OfOthers) != 0;
}
