using System.Collections.Concurrent;
using Treepie.Computations;
using Treepie.Computing.CSharp;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing;

/// <summary>
/// Compiles JavaScript (with Jint) and C# code (with Roslyn's parser; it is never run as C#) for a database: assign it to
/// <see cref="DatabaseOptions.Computing"/>. Thread-safe; one instance serves any number of databases.
/// </summary>
public sealed class TextComputingEngine : ComputingEngine
{
    /// <summary>The maximum number of compiled scripts in the cache; when it is reached, the cache is cleared.</summary>
    private const int MostScripts = 256;

    private readonly ConcurrentDictionary<string, CompiledScript> _scripts = new(StringComparer.Ordinal);
    private readonly ScriptLimits _limits;

    /// <summary>Creates an engine with the default limits of scripts.</summary>
    public TextComputingEngine()
        : this(new ScriptLimits())
    {
    }

    /// <summary>Creates an engine with the specified limits.</summary>
    public TextComputingEngine(ScriptLimits limits)
    {
        ArgumentNullException.ThrowIfNull(limits);
        limits.Validate();
        _limits = limits;
    }

    internal override Script CompileScript(IReadOnlyList<ScriptFunction> functions, bool takesAnyStatements = false)
    {
        // Clients send the same scripts repeatedly, and engines are kept with the compiled script.
        string key = (takesAnyStatements ? "any " : "") + string.Join(
            '\0', functions.Select(static one => $"{one.Name}({string.Join(',', one.Parameters)}){one.Body}"));
        if (_scripts.TryGetValue(key, out CompiledScript? known))
            return known;

        var compiled = CompiledScript.Compile(
            functions, takesAnyStatements ? _limits with { MaxStatements = int.MaxValue } : _limits);
        if (_scripts.Count >= MostScripts)
            _scripts.Clear();
        _scripts[key] = compiled;
        return compiled;
    }

    internal override IndexMap CompileMap(IndexTexts index, string text) =>
        IsJavaScript(text) ? JavaScriptMap.Compile(index, text, _limits) : CSharpMap.Compile(RequireNoSources(index), text);

    internal override IndexReduce CompileReduce(IndexTexts index, string text) => text.AsSpan().TrimStart().StartsWith("groupBy")
        ? JavaScriptReduce.Compile(index, text, _limits)
        : CSharpReduce.Compile(RequireNoSources(index), text);

    /// <summary>
    /// Returns whether a map is JavaScript: maps in C# start with their source; any other text that contains a call of
    /// <c>map</c> is JavaScript.
    /// </summary>
    private static bool IsJavaScript(string text)
    {
        ReadOnlySpan<char> start = text.AsSpan().TrimStart();
        foreach (string beside in (ReadOnlySpan<string>)[MapPrelude.TimeSeries, MapPrelude.Counters])
            if (start.StartsWith(beside))
                return start[beside.Length..].TrimStart() is ['.', .. var call] && call.TrimStart().StartsWith("map");
        return !start.StartsWith("from ")
            && !start.StartsWith("docs")
            && start.Contains("map", StringComparison.Ordinal)
            && start.Contains('(');
    }

    private static IndexTexts RequireNoSources(IndexTexts index) => index.AdditionalSources.Count == 0
        ? index
        : throw new InvalidIndexDefinitionException(
            index.IndexName, "AdditionalSources",
            "its maps are C#, and additional C# code ('AdditionalSources') is never run. Write the computation in "
                + "the maps, or write the maps in JavaScript, which may have additional sources.");
}
