using System.Diagnostics.CodeAnalysis;
using System.Text.RegularExpressions;

namespace Treepie.Server.Http;

/// <summary>Keeps from clients where the server has its files: of a path in a message only the last name is left.</summary>
internal static partial class ServerPaths
{
    /// <summary>The message with shorter paths. Messages put paths in quotes.</summary>
    [return: NotNullIfNotNull(nameof(message))]
    public static string? Hide(string? message) => message is null ? null : Quoted().Replace(message, "'…$1'");

    [GeneratedRegex("""'(?:/|[A-Za-z]:[\\/])[^']*?([\\/]?[^'\\/]*)'""", RegexOptions.CultureInvariant)]
    private static partial Regex Quoted();
}
