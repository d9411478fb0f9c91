using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.CommandLine.Keys;

/// <summary>What <c>--key</c> was given: a source, or that a person is to be asked for a passphrase.</summary>
internal sealed class KeyArgument
{
    /// <summary>What asks the person.</summary>
    public const string Ask = "ask";

    private readonly KeySource? _source;

    private KeyArgument(KeySource? source) => _source = source;

    /// <summary>Reads it as it was written.</summary>
    /// <exception cref="KeySourceException">It is no source; the message does not quote it.</exception>
    public static KeyArgument Parse(string text) => new(text == Ask ? null : KeySource.Parse(text));

    /// <summary>Gets the key, to be disposed.</summary>
    /// <param name="shell">Where a person is asked.</param>
    /// <param name="what">Of what it is the key, for the question.</param>
    /// <param name="cancellationToken">Ends a command that is to give it.</param>
    /// <exception cref="KeySourceException">There is none.</exception>
    public EncryptionKey Read(Shell shell, string what, CancellationToken cancellationToken)
    {
        if (_source is not null)
            return _source.Read(cancellationToken);
        if (!shell.CanAsk)
            throw new UsageException(
                "Nobody can be asked for a passphrase here: there is no terminal. Give it as passphrase-file:PATH, "
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
