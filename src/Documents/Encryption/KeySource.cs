using System.Text;
using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// The source of a key or passphrase: a file, an environment variable or a command, which is read each time the key is needed.
/// Written as <c>file:PATH</c>, <c>env:NAME</c> or <c>command:PROGRAM ARGUMENTS</c>, with the prefix <c>passphrase-</c> for a
/// passphrase. Immutable and thread-safe.
/// </summary>
/// <remarks>
/// The key itself cannot be a source: on a command line, every account of the machine could read it, and in a settings file it
/// would be next to the data it protects. Messages name the source and never its value.
/// </remarks>
public sealed class KeySource
{
    /// <summary>The syntax of key sources, for help and messages.</summary>
    public const string Forms =
        "file:PATH, env:NAME or command:/FULL/PATH ARGUMENTS, with 'passphrase-' before it where a passphrase is kept there";

    private const string PassphrasePrefix = "passphrase-";

    private readonly Kind _kind;
    private readonly string _place;
    private readonly bool _isPassphrase;
    private readonly KeyCommand? _command;

    private KeySource(Kind kind, string place, bool isPassphrase, KeyCommand? command = null)
    {
        _kind = kind;
        _place = place;
        _isPassphrase = isPassphrase;
        _command = command;
    }

    private enum Kind
    {
        File,
        Variable,
        Command,
    }

    /// <summary>The default time limit of commands: 30 seconds.</summary>
    public static TimeSpan DefaultCommandTime { get; } = TimeSpan.FromSeconds(30);

    /// <summary>A description of the source, for messages.</summary>
    public string Description => _kind switch
    {
        Kind.File => $"The key file '{_place}'",
        Kind.Variable => $"The environment variable '{_place}'",
        _ => _command?.Description ?? "",
    };

    /// <summary>
    /// Returns a file as a source, which contains 32 raw bytes, or base64 or hexadecimal digits. The file is rejected if other
    /// accounts may read or write it; see <see cref="KeyFile"/>.
    /// </summary>
    public static KeySource FromFile(string path, bool isPassphrase = false)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        return new KeySource(Kind.File, path, isPassphrase);
    }

    /// <summary>
    /// Returns an environment variable as a source, which contains base64 or hexadecimal digits. Anyone who can inspect the
    /// process can read it, and child processes inherit it: prefer a file.
    /// </summary>
    public static KeySource FromEnvironmentVariable(string name, bool isPassphrase = false)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return new KeySource(Kind.Variable, name, isPassphrase);
    }

    /// <summary>
    /// Returns the standard output of a program as a source. The program is given by its full path, run without a shell, and
    /// killed after <paramref name="timeLimit"/> (null: 30 seconds).
    /// </summary>
    public static KeySource FromCommand(
        string program, IReadOnlyList<string> arguments, bool isPassphrase = false, TimeSpan? timeLimit = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(program);
        ArgumentNullException.ThrowIfNull(arguments);
        return new KeySource(
            Kind.Command, program, isPassphrase, new KeyCommand(program, [.. arguments], timeLimit ?? DefaultCommandTime));
    }

    /// <summary>Parses the text form of a source.</summary>
    /// <exception cref="KeySourceException">The text is not a key source. The message does not quote it, since it may be the key
    /// itself.</exception>
    public static KeySource Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        bool isPassphrase = text.StartsWith(PassphrasePrefix, StringComparison.Ordinal);
        string rest = isPassphrase ? text[PassphrasePrefix.Length..] : text;
        int colon = rest.IndexOf(':', StringComparison.Ordinal);
        string place = rest[(colon + 1)..];
        string kind = colon < 0 ? "" : rest[..colon];
        if (kind is not ("file" or "env" or "command"))
        {
            throw new KeySourceException(
                $"A key is given by where it is: {Forms}. It is never given itself: on a command line every account of this "
                    + $"machine could read it. What was given is none of these.");
        }

        if (string.IsNullOrWhiteSpace(place))
            throw new KeySourceException(
                $"'{kind}:' of a key lacks what comes after it. A key is given by where it is: {Forms}.");

        return kind switch
        {
            "file" => FromFile(place, isPassphrase),
            "env" => FromEnvironmentVariable(place, isPassphrase),
            _ => ParseCommand(place, isPassphrase),
        };
    }

    /// <summary>Reads the key.</summary>
    /// <exception cref="KeySourceException">The source has no valid key; the message says which source, why, and what to
    /// do.</exception>
    /// <exception cref="OperationCanceledException">The operation was cancelled; a running command was killed.</exception>
    public EncryptionKey Read(CancellationToken cancellationToken = default)
    {
        using var secret = new SecretBuffer(KeyText.MaxBytes);
        switch (_kind)
        {
            case Kind.File:
                KeyFile.Read(_place, secret);
                break;
            case Kind.Variable:
                ReadVariable(secret);
                break;
            case Kind.Command when _command is { } command:
                // on another thread: the caller may have a synchronization context, which would deadlock
                Task.Run(() => command.RunAsync(secret, cancellationToken), CancellationToken.None).GetAwaiter().GetResult();
                break;
        }

        return _isPassphrase ? KeyText.ReadPassphrase(secret.Span, Description) : KeyText.ReadKey(secret.Span, Description);
    }

    /// <inheritdoc cref="Description"/>
    public override string ToString() => Description;

    private static KeySource ParseCommand(string line, bool isPassphrase)
    {
        try
        {
            IReadOnlyList<string> words = KeyCommand.Split(line);
            return FromCommand(words[0], [.. words.Skip(1)], isPassphrase);
        }
        catch (FormatException error)
        {
            throw new KeySourceException(
                $"The command of a key cannot be understood: {error.Message} Write it as command:/full/path 'an argument' "
                    + $"another.");
        }
    }

    private void ReadVariable(SecretBuffer secret)
    {
        string? value = Environment.GetEnvironmentVariable(_place);
        if (string.IsNullOrEmpty(value))
            throw new KeySourceException(
                $"{Description} is {(value is null ? "not set" : "empty")}. Set it to the key, in base64, before the program is "
                    + $"started.");
        if (Encoding.UTF8.GetByteCount(value) > secret.Free.Length)
            throw new KeySourceException($"{Description} is too long to be a key.");
        secret.Advance(Encoding.UTF8.GetBytes(value, secret.Free.Span));
    }
}
