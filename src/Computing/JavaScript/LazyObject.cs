using System.Text;
using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Descriptors;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// A JSON object in a script whose members are parsed when they are accessed, as maps typically use a few of many. Any
/// operation other than reading a member by name, such as enumeration or a change, first converts it to an ordinary object.
/// </summary>
internal sealed class LazyObject : ObjectInstance
{
    private const int FewBytes = 256;

    private readonly ReadOnlyMemory<byte> _json;
    private Member[]? _members;
    private bool _isOrdinary;

    /// <param name="engine">The engine.</param>
    /// <param name="json">A JSON object, which must not change during the lifetime of this object.</param>
    /// <param name="prototype">The prototype of ordinary objects.</param>
    public LazyObject(Engine engine, ReadOnlyMemory<byte> json, ObjectInstance? prototype)
        : base(engine)
    {
        _json = json;
        Prototype = prototype;
    }

    /// <summary>Whether the text is still valid, except for the values that <see cref="Written"/> returns.</summary>
    public bool IsText => !_isOrdinary;

    /// <summary>The JSON text.</summary>
    public ReadOnlySpan<byte> Text => _json.Span;

    /// <summary>
    /// Whether no member can have been changed: no array was accessed, and accessed objects are untouched themselves.
    /// </summary>
    public bool IsUntouched
    {
        get
        {
            if (_isOrdinary)
                return false;
            foreach (Member member in _members ?? [])
                if (member.Value is ObjectInstance and not LazyObject { IsUntouched: true })
                    return false;
            return true;
        }
    }

    public override PropertyDescriptor GetOwnProperty(JsValue property) =>
        _isOrdinary || property is not JsString name
            ? base.GetOwnProperty(property)
            : Find(name.ToString()) is >= 0 and var at
                ? new PropertyDescriptor(ValueOf(at), writable: true, enumerable: true, configurable: true)
                : PropertyDescriptor.Undefined;

    public override List<JsValue> GetOwnPropertyKeys(Types types = Types.String | Types.Symbol)
    {
        MakeOrdinary();
        return base.GetOwnPropertyKeys(types);
    }

    public override IEnumerable<KeyValuePair<JsValue, PropertyDescriptor>> GetOwnProperties()
    {
        MakeOrdinary();
        return base.GetOwnProperties();
    }

    public override bool Set(JsValue property, JsValue value, JsValue receiver)
    {
        MakeOrdinary();
        return base.Set(property, value, receiver);
    }

    public override bool DefineOwnProperty(JsValue property, PropertyDescriptor desc)
    {
        MakeOrdinary();
        return base.DefineOwnProperty(property, desc);
    }

    public override bool Delete(JsValue property)
    {
        MakeOrdinary();
        return base.Delete(property);
    }

    public override bool PreventExtensions()
    {
        MakeOrdinary();
        return base.PreventExtensions();
    }

    /// <summary>Returns each member, in order: its name, its text, and its value if that may have been changed.</summary>
    public IEnumerable<(string Name, ReadOnlyMemory<byte> Text, JsValue? Value)> Written()
    {
        foreach (Member member in Members())
            yield return (
                member.NameIn(_json.Span), _json[member.Start..member.End], member.Value is ObjectInstance ? member.Value : null);
    }

    protected override void Initialize()
    {
        // There are no own members before the conversion to an ordinary object.
    }

    private void MakeOrdinary()
    {
        if (_isOrdinary)
            return;
        Member[] members = Members();
        _isOrdinary = true;
        for (int i = 0; i < members.Length; i++)
            FastSetDataProperty(members[i].NameIn(_json.Span), ValueOf(i));
        _members = null;
    }

    private JsValue ValueOf(int at)
    {
        ref Member member = ref Members()[at];
        return member.Value ??= ScriptJson.Lazy(Engine, _json[member.Start..member.End], Prototype);
    }

    /// <summary>Returns the index of a member; -1 if it does not exist. Of duplicate names, the last counts.</summary>
    private int Find(string name)
    {
        int most = Encoding.UTF8.GetMaxByteCount(name.Length);
        Span<byte> room = most <= FewBytes ? stackalloc byte[FewBytes] : new byte[most];
        ReadOnlySpan<byte> utf8 = room[..Encoding.UTF8.GetBytes(name, room)], json = _json.Span;
        Member[] members = Members();
        for (int i = members.Length - 1; i >= 0; i--)
        {
            ref readonly Member member = ref members[i];
            if (member.IsEscaped
                ? member.NameIn(json) == name
                : json[member.NameStart..member.NameEnd].SequenceEqual(utf8))
                return i;
        }

        return -1;
    }

    private Member[] Members()
    {
        if (_members is not null)
            return _members;
        var members = new List<Member>();
        var reader = new Utf8JsonReader(_json.Span, new JsonReaderOptions { MaxDepth = ScriptJson.Reading.MaxDepth });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int name = (int)reader.TokenStartIndex + 1;
            var member = new Member
            {
                NameStart = name,
                NameEnd = name + reader.ValueSpan.Length,
                IsEscaped = reader.ValueIsEscaped
            };
            reader.Read();
            member.Start = (int)reader.TokenStartIndex;
            reader.Skip();
            member.End = (int)reader.BytesConsumed;
            members.Add(member);
        }

        return _members = [.. members];
    }

    /// <summary>The position of a member in the text.</summary>
    private struct Member
    {
        public int NameStart { get; init; }

        public int NameEnd { get; init; }

        public bool IsEscaped { get; init; }

        public int Start { get; set; }

        public int End { get; set; }

        /// <summary>Its value, after the first access.</summary>
        public JsValue? Value { get; set; }

        public readonly string NameIn(ReadOnlySpan<byte> json)
        {
            if (!IsEscaped)
                return Encoding.UTF8.GetString(json[NameStart..NameEnd]);
            var reader = new Utf8JsonReader(json[(NameStart - 1)..(NameEnd + 1)]);
            reader.Read();
            return reader.GetString() ?? "";
        }
    }
}
