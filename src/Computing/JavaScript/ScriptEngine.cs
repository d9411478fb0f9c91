using System.Buffers;
using System.Text.Json;
using Jint;
using Jint.Native;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>An engine with the functions of a patch or query. Not thread-safe.</summary>
internal sealed class ScriptEngine : IDisposable
{
    /// <summary>The maximum size of a result, in bytes: the default maximum size of a document.</summary>
    internal const int MaxResultBytes = 32 << 20;

    private readonly ScriptSandbox _sandbox;
    private readonly ScriptFunctions _functions;
    private readonly NumberTexts _texts = new();

    public ScriptEngine(Prepared<Acornima.Ast.Script> program, ScriptLimits limits)
    {
        ScriptFunctions? functions = null;
        _sandbox = new ScriptSandbox(
            limits, sandbox => functions = new ScriptFunctions(sandbox, limits.MaxLength, _texts), prelude: null, [program]);
        _functions = functions!; // set by the constructor of the sandbox
    }

    public void Dispose() => _sandbox.Dispose();

    public void Call(
        string function, ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken)
    {
        using JsonDocument? document = call.This.IsEmpty ? null : JsonDocument.Parse(call.This, ScriptJson.Reading);
        Engine engine = _sandbox.Engine;
        _functions.Begin(host);
        try
        {
            _sandbox.Run(Run, cancellationToken);
        }
        finally
        {
            _functions.End();
            _texts.Clear();
        }

        void Run()
        {
            JsValue subject = document is null ? JsValue.Undefined : ScriptJson.Read(engine, document.RootElement, _texts);
            if (document is not null)
                _functions.Note(subject, call.This);
            var arguments = new JsValue[call.Arguments.Count];
            for (int i = 0; i < arguments.Length; i++)
                arguments[i] = ScriptJson.Read(engine, call.Arguments[i], _texts);
            JsValue result = engine.Call(engine.GetValue(function), subject, arguments);
            ScriptJson.Write(
                call.ReturnsThis ? subject : result, call.ReturnsThis && document is not null ? document.RootElement : default,
                output, _sandbox.BudgetOfWrite(MaxResultBytes), _texts);
        }
    }
}
