using Jint;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The script that prepares an engine for maps: removes the clock and randomness, as a map is a function of its document,
/// and defines the functions that only maps have.
/// </summary>
internal static class MapPrelude
{
    /// <summary>The object whose <c>map</c> maps time series.</summary>
    public const string TimeSeries = "timeSeries";

    /// <summary>The object whose <c>map</c> maps counters.</summary>
    public const string Counters = "counters";

    /// <summary>The function that converts the times of a segment to dates.</summary>
    public const string WithTimes = "$withTimes";

    /// <summary>
    /// The function that moves dynamic fields to the member in which they are expected. What is there already was spread from a
    /// document or an earlier result, whose fields are no fields of this result.
    /// </summary>
    public const string WithFields = "$withFields";

    /// <summary>The script.</summary>
    public static Prepared<Acornima.Ast.Script> Program { get; } = Engine.PrepareScript(Text, strict: true);

    private const string Text = """
        'use strict';
        (() => {
            const time = Date, none = what => () => { throw new TypeError(`${what} is not there in an index: a map is a function of its document.`); };
            function FixedDate(...parts) { return new.target && parts.length > 0 ? new time(...parts) : none('the current time')(); }
            FixedDate.prototype = time.prototype;
            FixedDate.parse = time.parse;
            FixedDate.UTC = time.UTC;
            FixedDate.now = none('the current time');
            time.prototype.constructor = FixedDate;
            globalThis.Date = FixedDate;
            globalThis.$withTimes = segment => {
                segment.Start = new time(segment.Start);
                segment.End = new time(segment.End);
                for (const entry of segment.Entries) entry.Timestamp = new time(entry.Timestamp);
                return segment;
            };
            delete globalThis.Promise;
            Math.random = none('Math.random');
            globalThis.load = (id, collection) => id == null ? null : Array.isArray(id) ? id.map(one => load(one, collection)) : $load(String(id), collection);
            globalThis.noTracking = { load: globalThis.load };
            globalThis.cmpxchg = key => key == null ? null : Array.isArray(key) ? key.map(one => cmpxchg(one)) : $compareExchange(String(key));
            globalThis.loadAttachment = (document, name) => {
                const of = id(document), found = of == null || name == null ? null : $attachment(of, String(name));
                return found && { ...found, getContentAsString: () => $attachmentText(of, found.Name) };
            };
            globalThis.loadAttachments = document => attachmentsFor(document).map(one => loadAttachment(document, one.Name));
            globalThis.boost = (value, weight) => ({ ...value, '@boost': weight });
            globalThis.createSpatialField = (latitude, longitude) => longitude === undefined ? latitude : latitude == null || longitude == null ? undefined : `POINT (${longitude} ${latitude})`;
            const made = new WeakSet();
            const isMade = value => Array.isArray(value) ? value.length > 0 && value.every(isMade) : made.has(value);
            globalThis.createField = (name, value, options) => {
                const get = key => options?.[key] ?? options?.[key[0].toUpperCase() + key.slice(1)];
                const field = { Name: String(name), Value: value, Indexing: get('indexing'), Storage: get('storage') };
                made.add(field);
                return field;
            };
            globalThis.$withFields = results => {
                const one = result => {
                    if (typeof result !== 'object' || result === null) return result;
                    if (!('@fields' in result) && !Object.values(result).some(isMade)) return result;
                    const plain = {}, fields = [];
                    for (const [name, value] of Object.entries(result))
                        if (isMade(value)) fields.push(...[value].flat(Infinity)); else if (name !== '@fields') plain[name] = value;
                    return { ...plain, '@fields': fields };
                };
                return Array.isArray(results) ? results.map(one) : one(results);
            };
            globalThis.createVector = vector => vector;
            globalThis.recurse = (value, next) => {
                const found = [], seen = new Set(), waiting = [];
                const add = value => { if (value != null) waiting.push(...[value].flat().reverse()); };
                for (add(value); waiting.length > 0;) {
                    const one = waiting.pop();
                    if (one == null) continue;
                    const content = typeof one === 'object' ? $content(one) : JSON.stringify([one]);
                    if (seen.has(content)) continue;
                    seen.add(content);
                    found.push(one);
                    add(next(one));
                }
                return found;
            };
        })();
        """;
}
