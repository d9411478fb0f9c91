using System.Buffers;
using System.Collections.Concurrent;
using System.Text;
using Acornima;
using Acornima.Ast;
using Jint;
using Jint.Runtime;
using Treepie.Computations;
using Script = Treepie.Computations.Script;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Functions in JavaScript, compiled once and run by Jint within limits, on engines that are reused. Thread-safe.
/// </summary>
internal sealed class CompiledScript : Script
{
    /// <summary>The maximum length of all functions together, in characters.</summary>
    private const int MaxCharacters = 256 * 1024;

    private readonly Prepared<Acornima.Ast.Script> _program;
    private readonly ScriptLimits _limits;
    private readonly ScriptFunction[] _functions;
    private readonly ConcurrentBag<ScriptEngine> _idle = [];

    private CompiledScript(Prepared<Acornima.Ast.Script> program, ScriptFunction[] functions, ScriptLimits limits) =>
        (_program, _functions, _limits) = (program, functions, limits);

    /// <exception cref="ScriptException">A function cannot be parsed.</exception>
    public static CompiledScript Compile(IReadOnlyList<ScriptFunction> functions, ScriptLimits limits)
    {
        if (functions.Sum(static one => one.Body.Length) > MaxCharacters)
            throw new ScriptException(
                $"The script has more than {MaxCharacters:N0} characters. Shorten it.", 1, 1, isSyntax: true);

        // First parse each function separately, so that an extra bracket in one does not affect another.
        foreach (ScriptFunction function in functions)
            Prepare([function]);
        return new CompiledScript(Prepare(functions), [.. functions], limits);
    }

    public override void Call(
        string function, in ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken)
    {
        if (!_idle.TryTake(out ScriptEngine? engine))
            engine = new ScriptEngine(_program, _limits);
        // An engine whose call failed may be in an inconsistent state, so it is not reused.
        bool reusable = false;
        try
        {
            engine.Call(function, call, host, output, cancellationToken);
            reusable = _idle.Count < Environment.ProcessorCount;
        }
        catch (Exception error) when (cancellationToken.IsCancellationRequested && error is not ScriptException)
        {
            throw new OperationCanceledException("The script was ended.", error, cancellationToken);
        }
        catch (JavaScriptException error)
        {
            throw Failed(error.Message, error.Location, error, error.Error.IsString() ? error.Error.AsString() : null);
        }
        catch (Exception error) when (ScriptSandbox.LimitOf(error, _limits) is { } limit)
        {
            throw new ScriptException(limit, error);
        }
        finally
        {
            if (reusable)
                _idle.Add(engine);
            else
                engine.Dispose();
        }
    }

    private static Prepared<Acornima.Ast.Script> Prepare(IReadOnlyList<ScriptFunction> functions)
    {
        var text = new StringBuilder();
        foreach (ScriptFunction function in functions)
            text.Append(TextOf(function)).Append('\n');
        try
        {
            Prepared<Acornima.Ast.Script> program = Engine.PrepareScript(text.ToString(), strict: true);
            if (program.Program?.Body is not { } statements
                || statements.Count != functions.Count
                || statements.Any(static one => one is not FunctionDeclaration))
                throw new ScriptException(
                    "The script cannot be read: a '}' of it closes the function that it is the body of. Remove it.", 1, 1,
                    isSyntax: true);
            if (program.Program?.DescendantNodes().OfType<BigIntLiteral>().FirstOrDefault() is { } number)
            {
                (int line, int column) = PlaceOf(functions, number.Location.Start.Line, number.Location.Start.Column);
                throw new ScriptException(
                    $"The script cannot be read at line {line}, column {column}: numbers of any length ('1n') are not there, as "
                        + $"one power of them takes as long as it likes.",
                    line, column, isSyntax: true);
            }

            return program;
        }
        catch (Exception error) when ((error as ParseErrorException ?? error.InnerException as ParseErrorException) is { } syntax)
        {
            (int line, int column) = PlaceOf(functions, syntax.LineNumber, syntax.Column);
            throw new ScriptException(
                $"The script cannot be read at line {line}, column {column}: {syntax.Description ?? syntax.Message}", line,
                column, isSyntax: true, error);
        }
    }

    /// <summary>
    /// Returns the source of a function. The body starts on a line of its own, so that only lines must be counted to map
    /// positions.
    /// </summary>
    private static string TextOf(ScriptFunction function) =>
        $"function {function.Name}({string.Join(',', function.Parameters)}) {{\n{function.Body}\n}}";

    /// <summary>Converts a position in the program to one in the original text.</summary>
    private static (int Line, int Column) PlaceOf(IReadOnlyList<ScriptFunction> functions, int line, int column)
    {
        int first = 1;
        foreach (ScriptFunction function in functions)
        {
            int lines = 3 + function.Body.AsSpan().Count('\n');
            if (line < first + lines)
            {
                // An extra bracket is reported after the body.
                int inBody = Math.Clamp(line - first - 1, 0, lines - 3);
                return (function.Line + inBody, inBody == 0 ? function.Column + Math.Max(0, column) : column + 1);
            }

            first += lines;
        }

        return (functions.Count == 0 ? 1 : functions[^1].Line, 1);
    }

    private ScriptException Failed(string message, in SourceLocation location, Exception error, string? thrown)
    {
        if (location.Start.Line <= 0)
            return new ScriptException($"The script failed: {message}", error) { Thrown = thrown };
        (int line, int column) = PlaceOf(_functions, location.Start.Line, location.Start.Column);
        return new ScriptException(
            $"The script failed at line {line}, column {column}: {message}", line, column, isSyntax: false, error)
        {
            Thrown = thrown,
        };
    }
}
