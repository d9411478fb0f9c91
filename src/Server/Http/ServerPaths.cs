using System.Diagnostics.CodeAnalysis;
using System.Text.RegularExpressions;

namespace Treepie.Server.Http;

/// <summary>
/// Hides the locations of the server's files from clients: reduces paths in messages to their last component.
/// </summary>
internal static partial class ServerPaths
{
    /// <summary>Returns the message with reduced paths, which are enclosed in single quotes.</summary>
    [return: NotNullIfNotNull(nameof(message))]
    public static string? Hide(string? message) => message is null ? null : Quoted().Replace(message, "'…$1'");

    [GeneratedRegex("""'(?:/|[A-Za-z]:[\\/])[^']*?([\\/]?[^'\\/]*)'""", RegexOptions.CultureInvariant)]
    private static partial Regex Quoted();
}
