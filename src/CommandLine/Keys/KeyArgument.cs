using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.CommandLine.Keys;

/// <summary>The value of <c>--key</c>: a key source, or a request to prompt for a passphrase.</summary>
internal sealed class KeyArgument
{
    /// <summary>The value that requests a prompt.</summary>
    public const string Ask = "ask";

    private readonly KeySource? _source;

    private KeyArgument(KeySource? source) => _source = source;

    /// <summary>Parses the value.</summary>
    /// <exception cref="KeySourceException">The value is not a source. The message does not quote it.</exception>
    public static KeyArgument Parse(string text) => new(text == Ask ? null : KeySource.Parse(text));

    /// <summary>Reads the key, which the caller disposes.</summary>
    /// <param name="shell">Where to prompt.</param>
    /// <param name="what">What the key belongs to, for the prompt.</param>
    /// <param name="cancellationToken">Stops a command that is to provide the key.</param>
    /// <exception cref="KeySourceException">The source provides no key.</exception>
    public EncryptionKey Read(Shell shell, string what, CancellationToken cancellationToken)
    {
        if (_source is not null)
            return _source.Read(cancellationToken);
        if (!shell.CanAsk)
            throw new UsageException(
                "There is no terminal to ask for a passphrase. Give it as passphrase-file:PATH, "
                    + "passphrase-env:NAME or passphrase-command:/FULL/PATH.");

        shell.Error.Write($"Passphrase of {what}: ");
        char[] text = shell.ReadSecret();
        shell.Error.WriteLine();
        try
        {
            return EncryptionKey.FromPassphrase(text);
        }
        catch (ArgumentException error)
        {
            throw new UsageException(
                error.Message[..(error.Message.LastIndexOf(" (", StringComparison.Ordinal) is > 0 and var end
                    ? end
                    : error.Message.Length)]);
        }
        finally
        {
            Array.Clear(text);
        }
    }
}
