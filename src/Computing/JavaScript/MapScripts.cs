using Acornima;
using Jint;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>Shared by maps and reduces in JavaScript: parsing and error messages.</summary>
internal static class MapScripts
{
    /// <summary>The maximum length of a source text, in characters.</summary>
    private const int MaxLength = 64 * 1024;

    /// <summary>Parses the additional sources, ordered by name, followed by the text.</summary>
    /// <exception cref="InvalidIndexDefinitionException">A source cannot be parsed.</exception>
    public static IReadOnlyList<Prepared<Acornima.Ast.Script>> Parse(IndexTexts index, string part, string text) =>
        [.. Sources(index).Select(source => ParseOne(index, "AdditionalSources", source.Value)), ParseOne(index, part, text)];

    /// <summary>
    /// Combines all sources into the body of one function, which an engine calls anew for each document: state outside the
    /// functions passed to <c>map</c> and <c>groupBy</c> does not survive, so no document's entry depends on another
    /// document.
    /// </summary>
    public static Prepared<Acornima.Ast.Script> AsFunction(string name, IndexTexts index, string text) => Engine.PrepareScript(
        $"function {name}() {{\n{string.Join("\n;\n", [.. Sources(index).Select(static source => source.Value), text])}\n}}",
        strict: true);

    /// <summary>Returns the message of an error caused by a script; null for other errors.</summary>
    public static string? MessageOf(Exception error, ScriptLimits limits) =>
        ScriptSandbox.LimitOf(error, limits)
        ?? (error is JintException or ScriptException or InvalidOperationException ? error.Message : null);

    private static IEnumerable<KeyValuePair<string, string>> Sources(IndexTexts index) =>
        index.AdditionalSources.OrderBy(static source => source.Key, StringComparer.Ordinal);

    private static Prepared<Acornima.Ast.Script> ParseOne(IndexTexts index, string part, string text)
    {
        if (text.Length > MaxLength)
            throw new InvalidIndexDefinitionException(
                index.IndexName, part, $"a text of it has {text.Length:N0} characters; {MaxLength:N0} is the most.");
        try
        {
            return Engine.PrepareScript(text, strict: true);
        }
        catch (Exception error)
            when (error is ScriptPreparationException or ParseErrorException or InsufficientExecutionStackException)
        {
            ParseError? place = ((error as ParseErrorException) ?? error.InnerException as ParseErrorException)?.Error;
            throw new InvalidIndexDefinitionException(
                index.IndexName, part,
                place is null
                    ? $"a text of it cannot be read: {error.Message}"
                    : $"a text of it, at line {place.LineNumber}, column {place.Column + 1}: {place.Description}.");
        }
    }
}
