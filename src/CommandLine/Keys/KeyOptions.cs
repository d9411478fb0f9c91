using System.CommandLine;
using System.CommandLine.Parsing;
using Treepie.Encryption;

namespace Treepie.CommandLine.Keys;

/// <summary>
/// Options that name the sources of keys. None accepts a key itself, because every account of a machine can read the command
/// lines of its processes.
/// </summary>
internal static class KeyOptions
{
    private const string Sources =
        "file:PATH, env:NAME or command:/FULL/PATH ARGUMENTS (with 'passphrase-' before it for a passphrase), or 'ask' for a "
            + "passphrase typed now";

    /// <summary><c>--key</c>.</summary>
    public static Option<KeyArgument?> Key(string meaning, string name = "--key") => new(name)
    {
        Description = $"{meaning}: {Sources}. Never the key itself: every account of this machine can read command lines",
        HelpName = "source",
        CustomParser = result => Parse(result, KeyArgument.Parse),
    };

    /// <summary><c>--master-key</c>, for commands that work on the files of a server.</summary>
    public static Option<KeySource?> MasterKey() => new("--master-key")
    {
        Description = "The source of the server's master key, which decrypts its stored keys",
        HelpName = "source",
        CustomParser = result => Parse(result, KeySource.Parse),
    };

    /// <summary><c>--database-key</c>, for commands that work on the files of a server.</summary>
    public static Option<(string Database, KeyArgument Key)[]> DatabaseKeys() => new("--database-key")
    {
        Description = "The source of the key of one database; may be given several times",
        HelpName = "name=source",
        AllowMultipleArgumentsPerToken = false,
        CustomParser = result => [
            .. result.Tokens.Select(token => ParseNamed(result, token.Value)).OfType<(string, KeyArgument)>()],
    };

    private static (string, KeyArgument)? ParseNamed(ArgumentResult result, string text)
    {
        int equals = text.IndexOf('=', StringComparison.Ordinal);
        if (equals > 0)
        {
            try
            {
                return (text[..equals], KeyArgument.Parse(text[(equals + 1)..]));
            }
            catch (KeySourceException error)
            {
                result.AddError(error.Message);
                return null;
            }
        }

        result.AddError("--database-key takes the name of a database, '=', and where its key is, like shop=file:/keys/shop.key");
        return null;
    }

    private static T? Parse<T>(ArgumentResult result, Func<string, T> parse)
        where T : class
    {
        try
        {
            return parse(result.Tokens[0].Value);
        }
        catch (KeySourceException error)
        {
            result.AddError(error.Message); // the message does not quote the text, which may be a key
            return null;
        }
    }
}
